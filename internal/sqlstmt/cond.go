package sqlstmt

import "strings"

// comparisons maps every comparison operator to its negation.
var comparisons = map[string]string{
	"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
}

// opposites are the other conditions with a negation of their own.
var opposites = map[string]string{
	"IS NULL": "IS NOT NULL", "IS NOT NULL": "IS NULL",
	"EXISTS": "NOT EXISTS", "NOT EXISTS": "EXISTS",
	"LIKE": "NOT LIKE", "NOT LIKE": "LIKE",
	"ILIKE": "NOT ILIKE", "NOT ILIKE": "ILIKE",
	"UNKNOWN": "UNKNOWN",
}

// comparison gives op its one spelling and tells whether it compares.
func comparison(op string) (string, bool) {
	switch op {
	case "!=":
		return "<>", true
	case "==":
		return "=", true
	}
	_, ok := comparisons[op]
	return op, ok
}

// compare is l op r, with rows compared column by column where that means the same.
func compare(op string, l, r Expr) []Cond {
	if (op == "=" || op == "<>") && isRow(l) && isRow(r) && len(l.Args) == len(r.Args) && len(l.Args) > 0 {
		var cs []Cond
		for i := range l.Args {
			cs = append(cs, compare(op, l.Args[i], r.Args[i])...)
		}
		if op == "=" || len(cs) == 1 {
			return cs
		}
		return []Cond{{Op: "OR", Any: cs}}
	}
	return []Cond{{Op: op, Left: l, Right: r}}
}

func isRow(e Expr) bool { return e.Kind == Func && e.Name == "row" }

func between(x, lo, hi Expr) []Cond {
	return []Cond{{Op: ">=", Left: x, Right: lo}, {Op: "<=", Left: x, Right: hi}}
}

// truth is e used as a condition.
func truth(e Expr) []Cond {
	switch {
	case e.Kind == HoleExpr:
		return []Cond{{Op: "UNKNOWN", Left: e}}
	case e.Kind == Func && e.Name == Hole:
		return []Cond{{Op: "UNKNOWN", Left: e}}
	case e.Kind == Compare:
		return e.Conds
	case e.Kind == Exists:
		return []Cond{{Op: "EXISTS", Sub: e.Sub}}
	}
	return []Cond{{Op: "BOOL", Left: e}}
}

// conj makes one condition of AND-ed ones.
func conj(cs []Cond) Cond {
	if len(cs) == 1 {
		return cs[0]
	}
	return Cond{Op: "AND", All: cs}
}

// disj is the OR of its arms, nested ORs flattened.
func disj(arms [][]Cond) []Cond {
	if len(arms) == 1 {
		return arms[0]
	}
	or := Cond{Op: "OR", Any: make([]Cond, 0, len(arms))}
	for _, a := range arms {
		if len(a) == 1 && a[0].Op == "OR" {
			or.Any = append(or.Any, a[0].Any...)
			continue
		}
		or.Any = append(or.Any, conj(a))
	}
	return []Cond{or}
}

// negate is NOT of AND-ed conditions, pushed down as far as it goes.
func negate(cs []Cond) []Cond {
	arms := make([][]Cond, len(cs))
	for i, c := range cs {
		arms[i] = negateOne(c)
	}
	return disj(arms)
}

func negateOne(c Cond) []Cond {
	if n, ok := comparisons[c.Op]; ok {
		c.Op = n
		return []Cond{c}
	}
	if n, ok := opposites[c.Op]; ok {
		c.Op = n
		return []Cond{c}
	}
	switch c.Op {
	case "NOT":
		if c.Any[0].Op == "AND" {
			return c.Any[0].All
		}
		return c.Any
	case "AND":
		return negate(c.All)
	case "OR":
		var cs []Cond
		for _, arm := range c.Any {
			cs = append(cs, negateOne(arm)...)
		}
		return cs
	}
	return []Cond{{Op: "NOT", Any: []Cond{c}}}
}

// mentionsHole tells whether a hole is part of a condition, other than as a
// value or in a literal, so that what is compared is not known.
func mentionsHole(cs []Cond) bool {
	dynamic := func(e Expr) bool {
		found := false
		e.Walk(func(e Expr) { found = found || e.Kind == Column && strings.Contains(e.Name, Hole) })
		return found
	}
	for _, c := range cs {
		if c.Op == "UNKNOWN" || dynamic(c.Left) || dynamic(c.Right) || mentionsHole(c.Any) || mentionsHole(c.All) {
			return true
		}
	}
	return false
}

// isTruth is x IS TRUE and its kin. IS NOT holds for NULL too, so that NOT stays.
func isTruth(cs []Cond, want, not bool) []Cond {
	if !want {
		cs = negate(cs)
	}
	if not {
		return []Cond{{Op: "NOT", Any: []Cond{conj(cs)}}}
	}
	return cs
}
