package expiry

import (
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// sql looks at the conditions of a statement for parameters that are compared
// with an expiry.
func (r *Reader) sql(c *ssa.Call) []Bound {
	spec, ok := r.Sink.Spec(&c.Call)
	if !ok || spec.Store != sink.SQL || !spec.HasText() || r.Embedded {
		return nil
	}
	site := r.Sink.Site(c)
	if site == nil {
		return nil
	}
	var out []Bound
	for _, sc := range site.Scripts {
		for _, st := range sc.Stmts {
			owned := namesOwner(st) || r.Authority.TakesRow(site, st)
			// What takes a row from its worker finds it by a time that ends the work, however
			// it is called.
			freed := slices.ContainsFunc(st.Writes, sink.Frees)
			for _, t := range conditions(st) {
				r.compared(t, owned, freed, func(e sqlstmt.Expr, table, col string) {
					if v := r.Authority.Bound(site, e); v != nil {
						out = append(out, Bound{c.Pos(), join(table, col), v})
					}
				})
			}
		}
	}
	return out
}

// namesOwner tells whether a statement sets the process that owns a row, or names
// it by a column that can be nothing else (locked_by, worker_id): a plain "owner"
// that is only compared may be a user.
func namesOwner(st sqlstmt.Stmt) bool {
	certain := func(column string) bool {
		return lease.IsHolderName(column) && lease.Words(column)[0] != "owner"
	}
	for _, w := range st.Writes {
		for _, a := range w.Set {
			if lease.IsHolderName(a.Column) {
				return true
			}
		}
	}
	for _, t := range conditions(st) {
		for _, e := range []sqlstmt.Expr{t.cond.Left, t.cond.Right} {
			if e.Kind == sqlstmt.Column && certain(e.Name) {
				return true
			}
		}
	}
	if st.Query != nil {
		for _, e := range st.Query.Output {
			if e.Kind == sqlstmt.Column && certain(e.Name) {
				return true
			}
		}
	}
	return false
}

// plans are words of a time at which something is to begin.
var plans = lease.Set{"run": true, "scheduled": true, "schedule": true, "next": true, "available": true, "visible": true, "after": true, "due": true}

// tabled is a condition with the tables its columns may belong to.
type tabled struct {
	cond sqlstmt.Cond
	from []sqlstmt.Table
}

// conditions returns every condition of a statement, those of sub-selects, of the
// arms of an OR and of a CASE that is stored included.
func conditions(st sqlstmt.Stmt) []tabled {
	var out []tabled
	var add func(cs []sqlstmt.Cond, from []sqlstmt.Table)
	var query func(q *sqlstmt.Query)
	query = func(q *sqlstmt.Query) {
		if q == nil {
			return
		}
		add(q.Where, q.From)
		for _, s := range q.Sub {
			query(s)
		}
	}
	add = func(cs []sqlstmt.Cond, from []sqlstmt.Table) {
		for _, c := range cs {
			out = append(out, tabled{c, from})
			add(c.Any, from)
			add(c.All, from)
			query(c.Sub)
			query(c.Left.Sub)
			query(c.Right.Sub)
		}
	}
	assigned := func(set []sqlstmt.Assign, from []sqlstmt.Table) { // SET owner = CASE WHEN expires_at < ...
		for _, a := range set {
			a.Value.Walk(func(e sqlstmt.Expr) { add(e.Conds, from) })
		}
	}
	query(st.Query)
	for _, q := range st.CTEs {
		query(q)
	}
	for _, w := range st.Writes {
		from := append([]sqlstmt.Table{w.Table}, w.From...)
		add(w.Where, from)
		assigned(w.Set, from)
		query(w.Source)
		for c := w.Conflict; c != nil; c = c.Next {
			add(c.Where, from)
			assigned(c.Set, from)
		}
	}
	return out
}

// compared calls f for each parameter that the condition compares by order with
// an ownership expiry.
func (r *Reader) compared(t tabled, owned, freed bool, f func(param sqlstmt.Expr, table, col string)) {
	if !ordered(t.cond.Op) {
		return
	}
	for _, pair := range [][2]sqlstmt.Expr{{t.cond.Left, t.cond.Right}, {t.cond.Right, t.cond.Left}} {
		col, ok := column(pair[0])
		if !ok {
			continue
		}
		table := tableOf(t.from, col.Table)
		known := owned && lease.Expiry.Has(col.Name) || freed && !plans.Has(col.Name)
		if !r.ownsColumn(table, col.Name) && !(known && !lease.Foreign.Has(col.Name, table)) {
			continue
		}
		bound := func(e sqlstmt.Expr) {
			if e.Kind == sqlstmt.Param {
				f(e, table, col.Name)
			}
		}
		pair[1].Walk(bound)
		if pair[0].Kind != sqlstmt.Column { // $1 - heartbeat_at > interval '30 s'
			pair[0].Walk(bound)
		}
	}
}

func ordered(op string) bool { return op == "<" || op == "<=" || op == ">" || op == ">=" }

// column returns the column an expression is about: itself, or in arithmetic or
// COALESCE.
func column(e sqlstmt.Expr) (sqlstmt.Expr, bool) {
	var out sqlstmt.Expr
	found := false
	e.Walk(func(e sqlstmt.Expr) {
		if e.Kind == sqlstmt.Column && !found {
			out, found = e, true
		}
	})
	return out, found
}

func tableOf(from []sqlstmt.Table, alias string) string {
	for _, t := range from {
		if alias == "" || strings.EqualFold(t.Alias, alias) || strings.EqualFold(t.Name, alias) {
			return strings.ReplaceAll(t.Name, sqlstmt.Hole, "")
		}
	}
	return ""
}

func join(table, column string) string {
	if table == "" {
		return column
	}
	return table + "." + column
}
