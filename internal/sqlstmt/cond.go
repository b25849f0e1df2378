package sqlstmt

import (
	"slices"
	"strings"
)

// inverse is the negation of a comparison operator, "" of anything else.
func inverse(op string) string {
	switch op {
	case "=":
		return "<>"
	case "<>":
		return "="
	case "<":
		return ">="
	case ">=":
		return "<"
	case ">":
		return "<="
	case "<=":
		return ">"
	}
	return ""
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
	return op, inverse(op) != ""
}

// compare appends l op r. Like all that read conditions it appends, because they
// are large.
func compare(dst []Cond, op string, l, r Expr) []Cond {
	return byColumn(append(dst, Cond{Op: op, Left: l, Right: r}))
}

// another appends a condition to fill in, which is cheaper than to copy one.
func another(dst []Cond, op string) ([]Cond, *Cond) {
	n := len(dst)
	dst = slices.Grow(dst, 1)[:n+1]
	c := &dst[n] // it is zero
	c.Op = op
	return dst, c
}

// byColumn compares rows in the last condition column by column, where that
// means the same.
func byColumn(dst []Cond) []Cond {
	last := &dst[len(dst)-1]
	op := last.Op
	if op != "=" && op != "<>" || !isRow(&last.Left) || !isRow(&last.Right) ||
		len(last.Left.Args) != len(last.Right.Args) || len(last.Left.Args) == 0 {
		return dst
	}
	l, r := last.Left, last.Right
	*last = Cond{}
	dst = dst[:len(dst)-1]
	if op == "<>" && len(l.Args) > 1 {
		or := Cond{Op: "OR"}
		for i := range l.Args {
			or.Any = compare(or.Any, op, l.Args[i], r.Args[i])
		}
		return append(dst, or)
	}
	for i := range l.Args {
		dst = compare(dst, op, l.Args[i], r.Args[i])
	}
	return dst
}

func isRow(e *Expr) bool { return e.Kind == Func && e.Name == "row" }

func between(x, lo, hi Expr) []Cond {
	return []Cond{{Op: ">=", Left: x, Right: lo}, {Op: "<=", Left: x, Right: hi}}
}

// truth appends e used as a condition.
func truth(dst []Cond, e Expr) []Cond {
	switch {
	case e.Kind == HoleExpr, e.Kind == Func && e.Name == Hole:
		return append(dst, Cond{Op: "UNKNOWN", Left: e})
	case e.Kind == Compare:
		return append(dst, e.Conds...)
	case e.Kind == Exists:
		return append(dst, Cond{Op: "EXISTS", Sub: e.Sub})
	}
	return append(dst, Cond{Op: "BOOL", Left: e})
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
	if n := inverse(c.Op); n != "" {
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

// mentionsHole tells whether a hole is part of a condition, other than in a list
// of values or in a literal, so that what is compared is not known.
func mentionsHole(cs []Cond) bool {
	for _, c := range cs {
		list := strings.HasSuffix(c.Op, " ANY")
		if c.Op == "UNKNOWN" || dynamic(c.Left) || !list && dynamic(c.Right) || mentionsHole(c.Any) || mentionsHole(c.All) {
			return true
		}
	}
	return false
}

// comparesHole is [mentionsHole] for all the conditions of a write.
func (w *Write) comparesHole() bool {
	if mentionsHole(w.Where) {
		return true
	}
	for c := w.Conflict; c != nil; c = c.Next {
		if mentionsHole(c.Where) {
			return true
		}
	}
	return false
}

// dynamic tells whether a hole is part of e.
func dynamic(e Expr) bool {
	found := false
	e.Walk(func(e Expr) {
		found = found || e.Kind == Column && strings.Contains(e.Name, Hole) || e.Kind == HoleExpr && e.Text == ""
	})
	return found
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

func nullTest(not bool) string {
	if not {
		return "IS NOT NULL"
	}
	return "IS NULL"
}
