package summary

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// A Trait is what one statement does with a column that may be a fence.
type Trait int8

// The traits. A column that is Kept protects its table by itself, one that is both
// Minted and Asked does too.
const (
	Kept   Trait = iota // compared by order with a bound value, and stored
	Minted              // raised by a claim that returns it
	Asked               // compared for equality with a bound value
)

// Sibling is a statement that treats a column as a fence, so that the other
// statements on its table are asked to do so too.
type Sibling struct {
	Table, Column string // in lower case
	Trait         Trait
	Sets          []string // the columns it sets, in lower case
	At            string   // import path, file and line
}

// Siblings returns the statements of the package that treat a column as a fence,
// sorted.
func (c *Code) Siblings() []Sibling {
	var out []Sibling
	for _, fn := range c.Pkg.Funcs {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				call, ok := in.(ssa.CallInstruction)
				if !ok {
					continue
				}
				s := c.Sink.Site(call)
				if s == nil || s.Spec.Store != sink.SQL || s.Target == "" {
					continue
				}
				at := c.At(call.Pos())
				for _, sc := range s.Scripts {
					for _, st := range sc.Stmts {
						for _, w := range st.Writes {
							out = append(out, siblings(w, at)...)
						}
					}
				}
			}
		}
	}
	SortSiblings(out)
	return slices.CompactFunc(out, func(a, b Sibling) bool { return compareSiblings(a, b) == 0 })
}

// SortSiblings puts siblings in the order in which they are looked at.
func SortSiblings(all []Sibling) { slices.SortFunc(all, compareSiblings) }

func compareSiblings(a, b Sibling) int {
	return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Trait, b.Trait), cmp.Compare(a.At, b.At))
}

// siblings returns what one write says of columns of its table.
func siblings(w sqlstmt.Write, at string) []Sibling {
	if w.Op != sqlstmt.Update && w.Op != sqlstmt.Delete || w.Table.Dynamic || w.Table.Temp || w.WhereUnknown {
		return nil
	}
	if lease.Ownership.Has(w.Table.Name) {
		return nil // the leases themselves, which checkthenwrite looks after
	}
	var sets []string
	for _, a := range w.Set {
		sets = append(sets, strings.ToLower(a.Column))
	}
	slices.Sort(sets)
	var out []Sibling
	add := func(column string, t Trait) {
		if !sink.VersionName(column) { // that is optimistic locking
			out = append(out, Sibling{Table: strings.ToLower(w.Table.Name), Column: strings.ToLower(column), Trait: t, Sets: sets, At: at})
		}
	}
	for _, cond := range w.Where {
		col, val := cond.Left, cond.Right
		op := cond.Op
		if col.Kind != sqlstmt.Column {
			col, val, op = val, col, turned[op]
		}
		if col.Kind != sqlstmt.Column || val.Kind != sqlstmt.Param {
			continue
		}
		switch {
		case (op == "<=" || op == "<") && lease.IsTokenName(col.Name) && stores(w, col.Name):
			add(col.Name, Kept)
		case op == "=" && !gives(w, col.Name):
			add(col.Name, Asked)
		}
	}
	for _, a := range w.Set {
		if (raises(a) && (lease.IsTokenName(a.Column) || claims(w)) || draws(a) && claims(w)) && returnsColumn(w, a.Column) {
			add(a.Column, Minted)
		}
	}
	return out
}

// raises tells whether an assignment makes a column larger than it was.
func raises(a sqlstmt.Assign) bool {
	return a.Value.Kind == sqlstmt.Arith && a.Value.Name == "+" && slices.ContainsFunc(a.Value.Args, func(e sqlstmt.Expr) bool {
		return e.Kind == sqlstmt.Column && strings.EqualFold(e.Name, a.Column)
	})
}

// draws tells whether an assignment gives a column a fresh identity that the database
// makes: gen_random_uuid(), uuid_generate_v4().
func draws(a sqlstmt.Assign) bool {
	return a.Value.Kind == sqlstmt.Func && len(a.Value.Args) == 0 && lease.Unique.Has(a.Value.Name)
}

// claims tells whether a write takes rows for a worker: it stores who works on them
// or until when.
func claims(w sqlstmt.Write) bool {
	return slices.ContainsFunc(w.Set, func(a sqlstmt.Assign) bool {
		return lease.IsHolderName(a.Column) || lease.Ownership.Has(a.Column) || lease.Process.Has(a.Column)
	})
}

// turned is each operator with its sides exchanged.
var turned = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

func stores(w sqlstmt.Write, column string) bool {
	return slices.ContainsFunc(w.Set, func(a sqlstmt.Assign) bool {
		return strings.EqualFold(a.Column, column) && a.Value.Kind == sqlstmt.Param
	})
}

// gives tells whether a write gives a column a value; NULL and other constants only
// take one away.
func gives(w sqlstmt.Write, column string) bool {
	return slices.ContainsFunc(w.Set, func(a sqlstmt.Assign) bool {
		return strings.EqualFold(a.Column, column) && a.Value.Kind != sqlstmt.Literal
	})
}

func returnsColumn(w sqlstmt.Write, column string) bool {
	return slices.ContainsFunc(w.Returning, func(e sqlstmt.Expr) bool {
		return e.Kind == sqlstmt.Star || e.Kind == sqlstmt.Column && strings.EqualFold(e.Name, column)
	})
}

// FencedBy returns the column that protects a table by what its siblings do, and
// the statement that says so: one that keeps it, or one that asks for what a claim
// has minted.
func FencedBy(all []Sibling, table string) (s Sibling, sets []string, ok bool) {
	table = strings.ToLower(table)
	minted := map[string]bool{}
	for _, x := range all {
		if x.Table == table && x.Trait == Minted {
			minted[x.Column] = true
		}
	}
	for _, x := range all {
		if x.Table != table || x.Trait == Minted || x.Trait == Asked && !minted[x.Column] {
			continue
		}
		if !ok {
			s, ok = x, true
		}
		if x.Column == s.Column {
			sets = append(sets, x.Sets...)
		}
	}
	return s, sets, ok
}
