package verdict

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/resource"
	"github.com/fencelint/fence/analyzers/internal/summary"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// holding says whether a write's transaction holds a lock to its commit.
type holding int

const (
	open holding = iota
	held
	outOfSight
)

// holding looks for a lock that protects pr in the transaction that a write goes
// over: in its own function, in those that the transaction came through, and in
// those that run the closure it was handed to.
func (j *judge) holding(call ssa.CallInstruction, handle ssa.Value, pr *resource.Protection, op sqlstmt.Op) holding {
	seen := map[*ssa.Function]bool{}
	found := false
	look := func(fn *ssa.Function) {
		if fn == nil || seen[fn] || found {
			return
		}
		seen[fn] = true
		found = j.locksFor(fn, pr, op)
	}
	look(call.Parent())
	if found {
		return held
	}
	if handle == nil || isPool(handle) {
		return open
	}
	unknown := j.keepsTx(handle, look)
	tx, pool := false, false // a handle that is either is a transaction that others may have begun
	complete := j.Trace.Walk(handle, func(v, filled ssa.Value) ([]ssa.Value, bool) {
		look(v.Parent())
		tx, pool = tx || isTx(v), pool || isPool(v)
		switch v := v.(type) {
		case *ssa.Call:
			if filled != nil {
				return nil, true
			}
			if callee := ir.Callee(&v.Call); callee == nil || callee.Pkg != j.Pkg.SSA {
				unknown = unknown || isTx(v) && !begins(&v.Call)
				return nil, true
			}
		case *ssa.Parameter:
			found = found || j.runInScope(v.Parent())
			runners := j.runners(v.Parent())
			for _, r := range runners {
				look(r)
			}
			if len(j.Pkg.Callers(v.Parent())) == 0 && len(runners) == 0 {
				unknown = unknown || isTx(v) && !j.runElsewhere(v.Parent())
			}
		case *ssa.FieldAddr:
			f := ir.FieldOf(v.X.Type(), v.Field)
			if f == nil {
				break
			}
			if isTxType(f.Type()) {
				for _, s := range j.Pkg.Stores(f) {
					look(s.Store.Parent())
				}
				unknown = unknown || len(j.Pkg.Stores(f)) == 0
			}
		}
		return nil, false
	})
	switch {
	case found:
		return held
	case unknown || tx && pool || !complete && isTx(handle):
		return outOfSight
	}
	return open
}

// keepsTx tells whether a handle is a struct of this package that keeps a transaction
// in a field; what stores it there is looked at.
func (j *judge) keepsTx(handle ssa.Value, look func(*ssa.Function)) bool {
	n := ir.NamedOf(handle.Type())
	if n == nil || n.Obj().Pkg() != j.Pkg.Types {
		return false
	}
	st, ok := n.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	keeps := false
	for i := range st.NumFields() {
		if !isTxType(st.Field(i).Type()) {
			continue
		}
		keeps = true
		for _, s := range j.Pkg.Stores(st.Field(i)) {
			look(s.Store.Parent())
		}
	}
	return keeps
}

// begins tells whether a call opens a transaction.
func begins(c *ssa.CallCommon) bool {
	obj := ir.Object(c)
	return obj != nil && strings.HasPrefix(obj.Name(), "Begin")
}

// runners returns the functions of the package that are handed the closure fn, and
// so may run it in a transaction of theirs.
func (j *judge) runners(fn *ssa.Function) []*ssa.Function {
	var out []*ssa.Function
	for _, use := range j.uses(fn) {
		c, ok := use.(ssa.CallInstruction)
		if !ok {
			continue
		}
		if callee := ir.Callee(c.Common()); callee != nil && callee.Pkg == j.Pkg.SSA && callee != fn {
			out = append(out, callee)
			out = append(out, callee.AnonFuncs...)
		}
	}
	return out
}

// runElsewhere tells whether fn is a function literal handed to a function of
// another package, such as pgx.BeginFunc, which opens the transaction for it and
// locks nothing that is known.
func (j *judge) runElsewhere(fn *ssa.Function) bool {
	for _, use := range j.uses(fn) {
		c, ok := use.(ssa.CallInstruction)
		if !ok {
			continue
		}
		obj := ir.Object(c.Common())
		if obj == nil || obj.Pkg() == j.Pkg.Types {
			continue
		}
		s := j.in.Lookup.Func(obj)
		return s == nil || !s.Locks
	}
	return false
}

// runInScope tells whether fn is a function literal that fencedb runs in a transaction that
// has entered a guard.
func (j *judge) runInScope(fn *ssa.Function) bool {
	return slices.ContainsFunc(j.uses(fn), func(use ssa.Instruction) bool {
		c, ok := use.(ssa.CallInstruction)
		return ok && summary.RunsInScope(ir.Object(c.Common()))
	})
}

// uses returns the instructions that a function literal is used by.
func (j *judge) uses(fn *ssa.Function) []ssa.Instruction {
	if fn.Parent() == nil {
		return nil
	}
	var out []ssa.Instruction
	for _, mc := range j.Pkg.Closures(fn) {
		out = append(out, *mc.Referrers()...)
	}
	for _, in := range j.Pkg.Values(fn) {
		if _, ok := in.(*ssa.MakeClosure); !ok {
			out = append(out, in)
		}
	}
	return out
}

// locksFor tells whether fn, or a function around it, takes a lock that is held to
// the commit and protects pr from a write of the kind op. Who deletes what hangs on a
// guard's row together with the row cascades by hand: that delete is what is judged.
func (j *judge) locksFor(fn *ssa.Function, pr *resource.Protection, op sqlstmt.Op) bool {
	if pr.Guard != "" {
		for f := fn; f != nil; f = f.Parent() {
			if j.locksTable(f, pr.Guard, op, 0) {
				return true
			}
		}
		return j.Serializable(fn)
	}
	return j.TxHeld(fn) || j.guardedTx(fn)
}

// locksTable tells whether fn locks a row of a guard table (KEY SHARE is not
// enough), changes one under a compare of its token, or calls a function that does.
func (j *judge) locksTable(fn *ssa.Function, table string, op sqlstmt.Op, depth int) bool {
	const deep = 4
	guard := j.Policy.Guard(table)
	locks := func(scripts []sqlstmt.Script) bool {
		return locksIn(scripts, table) || guard != nil && updatesUnder(scripts, table, guard.Token) ||
			(op == sqlstmt.Delete || op == sqlstmt.Insert) && writesTo(scripts, table, op)
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			c, ok := in.(ssa.CallInstruction)
			if !ok {
				continue
			}
			if s := j.Sink.Site(c); s != nil {
				if locks(s.Scripts) {
					return true
				}
				continue
			}
			callee := ir.Callee(c.Common())
			if callee != nil && callee.Pkg == j.Pkg.SSA {
				if depth < deep && callee != fn && j.locksTable(callee, table, op, depth+1) {
					return true
				}
				continue
			}
			if obj := ir.Object(c.Common()); obj != nil && j.locksElsewhere(obj, locks) {
				return true
			}
		}
	}
	return false
}

// locksElsewhere tells whether a function of another package locks rows: any, or
// those of the table by a statement of generated code.
func (j *judge) locksElsewhere(obj *types.Func, locks func([]sqlstmt.Script) bool) bool {
	if summary.EntersGuard(obj) {
		return true
	}
	s := j.in.Lookup.Func(obj)
	if s == nil {
		return false
	}
	for _, t := range s.Sent {
		if locks([]sqlstmt.Script{j.Sink.Parse(t.Text, t.Style)}) {
			return true
		}
	}
	return s.Locks
}

func locksIn(scripts []sqlstmt.Script, table string) bool {
	locks := func(q *sqlstmt.Query) bool {
		if q == nil || q.Lock < sqlstmt.ForShare {
			return false
		}
		for _, t := range q.From {
			if isTable(t, table) {
				return true
			}
		}
		return false
	}
	for _, sc := range scripts {
		for _, st := range sc.Stmts {
			if locks(st.Query) {
				return true
			}
			for _, q := range st.CTEs {
				if locks(q) {
					return true
				}
			}
		}
	}
	return false
}

func updatesUnder(scripts []sqlstmt.Script, table, token string) bool {
	pr := &resource.Protection{Fences: []resource.Fence{{Column: token}}}
	for _, sc := range scripts {
		for _, st := range sc.Stmts {
			for _, w := range st.Writes {
				if w.Op == sqlstmt.Update && isTable(w.Table, table) && comparesFence(w.Where, pr) {
					return true
				}
			}
		}
	}
	return false
}

// isTable tells whether t is the table of that name in any schema, also one that only
// the running program knows.
func isTable(t sqlstmt.Table, name string) bool {
	return strings.EqualFold(t.Name, name[strings.LastIndexByte(name, '.')+1:])
}

// writesTo tells whether one of the statements deletes from a table, or inserts a row
// that is new in any case.
func writesTo(scripts []sqlstmt.Script, table string, op sqlstmt.Op) bool {
	return slices.ContainsFunc(scripts, func(sc sqlstmt.Script) bool {
		return slices.ContainsFunc(sc.Stmts, func(st sqlstmt.Stmt) bool {
			return slices.ContainsFunc(st.Writes, func(w sqlstmt.Write) bool {
				return w.Op == op && w.Conflict == nil && !w.Replace && !w.Ignore && isTable(w.Table, table)
			})
		})
	})
}

// isTxType tells whether a type is a transaction's.
func isTxType(t types.Type) bool { return summary.IsTx(t) }
