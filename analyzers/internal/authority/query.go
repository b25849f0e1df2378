package authority

// This file finds evidence in SQL: a SELECT by token, an advisory lock, a claim.

import (
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/record"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// queried: a SELECT whose condition compares a token or an owner with a bound
// value, or that takes an advisory lock.
func (r *Reader) queried(d record.Datum) (Evidence, bool) {
	if d.Read == nil || d.Spec.Store != sink.SQL {
		return Evidence{}, false
	}
	site := r.Sink.Site(d.Read)
	if site == nil {
		return Evidence{}, false
	}
	if ev, ok := r.advisory(d.Read, site); ok {
		return ev, true
	}
	return r.selected(d.Read, site)
}

// sessionLocks are functions that take a lock which lives as long as the
// connection.
var sessionLocks = []string{"pg_advisory_lock", "pg_try_advisory_lock", "get_lock"}

func (r *Reader) advisory(c *ssa.Call, site *sink.Site) (Evidence, bool) {
	for _, sc := range site.Scripts {
		for _, st := range sc.Stmts {
			for _, f := range st.Funcs {
				if slices.Contains(sessionLocks, f) {
					return Evidence{Kind: Acquired, Pos: c.Pos(), What: f, Handle: site.Handle, Session: true}, true
				}
			}
		}
	}
	return Evidence{}, false
}

// answered: x is the number by which a statement says that it took a session's lock,
// as GET_LOCK does.
func (r *Reader) answered(x ssa.Value) []Evidence {
	for _, d := range r.Record.Of(x) {
		if d.Read == nil || d.Spec.Store != sink.SQL {
			continue
		}
		if site := r.Sink.Site(d.Read); site != nil {
			if ev, ok := r.advisory(d.Read, site); ok {
				return []Evidence{ev}
			}
		}
	}
	return nil
}

func (r *Reader) selected(c *ssa.Call, site *sink.Site) (Evidence, bool) {
	for _, sc := range site.Scripts {
		for _, st := range sc.Stmts {
			if st.Query == nil {
				continue
			}
			var ev Evidence
			found := false
			each := func(q *sqlstmt.Query) {
				for _, cond := range q.Where {
					col, val := cond.Left, cond.Right
					if col.Kind != sqlstmt.Column {
						col, val = val, col
					}
					if col.Kind == sqlstmt.Column && val.Kind == sqlstmt.Param && cond.Op != "<>" &&
						(lease.IsTokenName(col.Name) || lease.IsHolderName(col.Name)) && r.mine(site, val) {
						table := ""
						if len(q.From) > 0 {
							table = q.From[0].Name
						}
						ev = Evidence{Kind: TokenCompared, Pos: c.Pos(), What: join(table, col.Name), Table: table, Column: col.Name,
							Handle: site.Handle, Held: q.Lock >= sqlstmt.ForShare || st.Query.Lock >= sqlstmt.ForShare}
						found = true
					}
				}
			}
			each(st.Query)
			for _, o := range st.Query.Output {
				if o.Sub != nil {
					each(o.Sub)
				}
			}
			if found {
				return ev, true
			}
		}
	}
	return Evidence{}, false
}

func join(table, column string) string {
	if table == "" {
		return column
	}
	return table + "." + column
}

// mine tells whether the value bound to parameter p did not come in with a
// request and is no user.
func (r *Reader) mine(site *sink.Site, p sqlstmt.Expr) bool {
	v := r.Bound(site, p)
	if v == nil {
		return false
	}
	if r.Record.FromRequest(v) {
		return false
	}
	return !foreignValue(v)
}

// Bound returns the value bound to parameter p of an SQL site, or nil.
func (r *Reader) Bound(site *sink.Site, p sqlstmt.Expr) ssa.Value {
	if p.N >= 1 && p.N <= len(site.Params) {
		return site.Params[p.N-1]
	}
	if site.Spec.Args < 0 {
		return nil
	}
	arg := sink.Arg(site.Call.Common(), site.Spec.Args)
	if arg == nil {
		return nil
	}
	vals, ok := origin.Variadic(arg)
	if n, err := strconv.Atoi(p.Name); err == nil {
		p.Name, p.N = "", n // SQLite calls $1 a name; drivers bind it by position
	}
	if p.Name != "" {
		for _, v := range append(vals, arg) {
			if b := r.named(v, p.Name); b != nil {
				return b
			}
		}
		return nil
	}
	if !ok || p.N < 1 || p.N > len(vals) {
		return nil
	}
	return vals[p.N-1]
}

// named finds the value of a named parameter: an entry of a map literal, or the
// field of a struct with that db tag.
func (r *Reader) named(v ssa.Value, name string) ssa.Value {
	for {
		switch x := v.(type) {
		case *ssa.MakeInterface:
			v = x.X
			continue
		case *ssa.ChangeType:
			v = x.X
			continue
		case *ssa.Alloc:
			return r.tagged(x, name)
		case *ssa.UnOp:
			if root := origin.Root(r.Pkg, x.X); root != nil && x.Op == token.MUL {
				return r.tagged(root, name)
			}
		case *ssa.MakeMap:
			for _, v := range sink.Entries(x, name) {
				return v
			}
		}
		return nil
	}
}

// tagged returns what the field with db tag name of a local struct is set to.
func (r *Reader) tagged(root *ssa.Alloc, name string) ssa.Value {
	for _, in := range *root.Referrers() {
		fa, ok := in.(*ssa.FieldAddr)
		if !ok || reflect.StructTag(ir.TagOf(fa.X.Type(), fa.Field)).Get("db") != name {
			continue
		}
		for _, use := range *fa.Referrers() {
			if st, ok := use.(*ssa.Store); ok && st.Addr == fa {
				return st.Val
			}
		}
	}
	return nil
}

// claimed: x is the row count of a statement that claims a lock row.
func (r *Reader) claimed(x ssa.Value) []Evidence {
	if !r.Pkg.Calls("RowsAffected") && !r.Pkg.Calls("Updates") {
		return nil
	}
	var out []Evidence
	r.Sink.Trace.Walk(x, func(v, addr ssa.Value) ([]ssa.Value, bool) {
		if fa, ok := v.(*ssa.FieldAddr); ok { // gorm's result has a field of that name
			if f := ir.FieldOf(fa.X.Type(), fa.Field); f != nil && f.Name() == "RowsAffected" {
				return []ssa.Value{fa.X}, true
			}
		}
		c, ok := v.(*ssa.Call)
		if !ok || addr != nil {
			return nil, addr != nil
		}
		if obj := ir.Object(&c.Call); obj != nil && obj.Name() == "RowsAffected" {
			return []ssa.Value{sink.Receiver(&c.Call)}, true
		}
		if ev, ok := r.claim(c); ok {
			out = append(out, ev)
		}
		return nil, false
	})
	return out
}

// claim tells whether an SQL call claims a row: it stores an owner or an expiry in
// a lock table, or this process's own identity as the owner of any row, under a
// condition.
func (r *Reader) claim(c *ssa.Call) (Evidence, bool) {
	site := r.Sink.Site(c)
	if site == nil || site.Spec.Store != sink.SQL || site.Judge != sink.Compared {
		return Evidence{}, false
	}
	for _, sc := range site.Scripts {
		for _, st := range sc.Stmts {
			for _, w := range st.Writes {
				lock := lease.Ownership.Has(w.Table.Name)
				for _, a := range stored(w) {
					if leasesRow(w, a.Column) || lock && taker(a.Column) || r.storesSelf(site, a) && ifFree(w, a.Column) {
						return Evidence{Kind: Acquired, Pos: c.Pos(), What: "claiming " + w.Table.Name, Table: w.Table.Name, Handle: site.Handle}, true
					}
				}
			}
		}
	}
	return Evidence{}, false
}

// taker tells whether a column of a lock's row says who took it, when, or until when.
func taker(column string) bool {
	return lease.IsHolderName(column) || lease.Expiry.Has(column) || lease.Process.Has(column) || lease.Ownership.Has(column)
}

// stored returns what a write stores where: its assignments and, of an INSERT, the
// first row.
func stored(w sqlstmt.Write) []sqlstmt.Assign {
	out := slices.Clone(w.Set)
	for i, col := range w.Columns {
		a := sqlstmt.Assign{Column: col}
		if len(w.Values) > 0 && i < len(w.Values[0]) {
			a.Value = w.Values[0][i]
		}
		out = append(out, a)
	}
	return out
}

// leasesRow tells whether a write stores the end of a lease, by the column's name,
// in a row that it finds free: leased_until, lock_expires_at.
func leasesRow(w sqlstmt.Write, column string) bool {
	return lease.Ownership.Has(column) && lease.Expiry.Has(column) && !lease.Foreign.Has(column) && ifFree(w, column) && sink.Reaps(w)
}

// Claims tells whether an SQL call claims a row.
func (r *Reader) Claims(c *ssa.Call) bool {
	_, ok := r.claim(c)
	return ok
}

// TakesRow tells whether a statement makes this process the owner of a row that it
// finds free.
func (r *Reader) TakesRow(site *sink.Site, st sqlstmt.Stmt) bool {
	return slices.ContainsFunc(st.Writes, func(w sqlstmt.Write) bool {
		return slices.ContainsFunc(stored(w), func(a sqlstmt.Assign) bool { return r.storesSelf(site, a) && ifFree(w, a.Column) })
	})
}

// StoresSelf tells whether a write stores this process as the owner of a row.
func (r *Reader) StoresSelf(site *sink.Site, w sqlstmt.Write) bool {
	return slices.ContainsFunc(stored(w), func(a sqlstmt.Assign) bool { return r.storesSelf(site, a) })
}

// ifFree tells whether a write asks first who owns the row: its condition is about
// the owner's column, or about an instant that has passed by the store's clock.
func ifFree(w sqlstmt.Write, column string) bool {
	about := false
	var look func(cs []sqlstmt.Cond)
	look = func(cs []sqlstmt.Cond) {
		for _, c := range cs {
			for _, e := range []sqlstmt.Expr{c.Left, c.Right} {
				about = about || e.Kind == sqlstmt.Column && (strings.EqualFold(e.Name, column) || lease.Expiry.Has(e.Name))
			}
			look(c.Any)
			look(c.All)
			if c.Sub != nil {
				look(c.Sub.Where)
			}
		}
	}
	look(w.Where)
	for c := w.Conflict; c != nil; c = c.Next {
		look(c.Where)
	}
	for _, q := range w.Sub {
		look(q.Where)
	}
	return about
}

// storesSelf tells whether an assignment makes this process the owner of a row.
func (r *Reader) storesSelf(site *sink.Site, a sqlstmt.Assign) bool {
	if a.Value.Kind != sqlstmt.Param || !lease.IsHolderName(a.Column) && !lease.Process.Has(a.Column) || lease.Foreign.Has(a.Column) {
		return false
	}
	v := r.Bound(site, a.Value)
	return v != nil && !r.Record.FromRequest(v) && r.identity(v) == isSelf
}

func funcsOf(s *sink.Site) []string {
	var out []string
	for _, sc := range s.Scripts {
		for _, st := range sc.Stmts {
			out = append(out, st.Funcs...)
		}
	}
	return out
}

// scanned: Scan succeeds only if a row matched, so a SELECT by token found it,
// or a claim returned its row.
func (r *Reader) scanned(c *ssa.Call) []Evidence {
	recv := sink.Receiver(&c.Call)
	if recv == nil {
		return nil
	}
	var out []Evidence
	r.Sink.Trace.Walk(recv, func(v, addr ssa.Value) ([]ssa.Value, bool) {
		q, ok := v.(*ssa.Call)
		if !ok || addr != nil {
			return nil, addr != nil
		}
		s, ok := r.Sink.Spec(&q.Call)
		if !ok || s.Store != sink.SQL {
			return nil, false
		}
		if site := r.Sink.Site(q); site != nil {
			if ev, ok := r.claim(q); ok {
				out = append(out, ev)
			} else if ev, ok := r.selected(q, site); ok && !aggregate(site) {
				out = append(out, ev)
			}
		}
		return nil, true
	})
	return out
}

// aggregate: the query gives a row whether or not anything matched.
func aggregate(s *sink.Site) bool {
	for _, sc := range s.Scripts {
		for _, st := range sc.Stmts {
			if st.Query == nil {
				continue
			}
			for _, o := range st.Query.Output {
				if o.Kind == sqlstmt.Exists || o.Kind == sqlstmt.Func && (o.Name == "count" || o.Name == "max" || o.Name == "min" || o.Name == "sum") {
					return true
				}
			}
		}
	}
	return false
}
