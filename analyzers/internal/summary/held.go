package summary

// This file tells which locks a function holds to the end of its transaction.

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/authority"
	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// heldByTx tells whether a write is safe because its own function holds the row
// or a transaction-scoped lock, or runs at SERIALIZABLE.
func (c *Code) heldByTx(fn *ssa.Function, s *sink.Site) bool {
	return s.Spec.Store == sink.SQL && c.heldIn(fn)
}

// ends tells whether fn ends the transaction it works in, and its locks with it.
func ends(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if c, ok := in.(ssa.CallInstruction); ok {
				if obj := ir.Object(c.Common()); obj != nil && (obj.Name() == "Commit" || obj.Name() == "Rollback") {
					return true
				}
			}
		}
	}
	return false
}

// heldIn is TxHeld, remembered.
func (c *Code) heldIn(fn *ssa.Function) bool {
	if out, ok := c.held[fn]; ok {
		return out
	}
	c.held[fn] = false
	out := c.TxHeld(fn)
	c.held[fn] = out
	return out
}

// Serializable tells whether fn, or a function around it, opens a serializable
// transaction.
func (c *Code) Serializable(fn *ssa.Function) bool {
	for f := fn; f != nil; f = f.Parent() {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if c.asksSerializable(in) {
					return true
				}
			}
		}
	}
	return false
}

// TxHeld tells whether fn locks rows with FOR UPDATE or FOR SHARE, takes a
// transaction-scoped advisory lock, or opens a serializable transaction.
func (c *Code) TxHeld(fn *ssa.Function) bool {
	for f := fn; f != nil; f = f.Parent() {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if call, ok := in.(ssa.CallInstruction); ok && c.locksRows(call) || c.asksSerializable(in) {
					return true
				}
			}
		}
	}
	return false
}

// locksRows tells whether one call locks rows, itself or in the function that it
// calls.
func (c *Code) locksRows(call ssa.CallInstruction) bool {
	if c.Sink.GormLocks(call.Common()) || EntersGuard(ir.Object(call.Common())) {
		return true
	}
	if callee := ir.Callee(call.Common()); callee != nil && callee.Pkg == c.Pkg.SSA {
		if c.heldIn(callee) && !ends(callee) {
			return true
		}
	} else if obj := ir.Object(call.Common()); obj != nil {
		if s := c.lookup.Func(obj); s != nil && s.Locks {
			return true
		}
	}
	s := c.Sink.Site(call)
	if s == nil || s.Spec.Store != sink.SQL {
		return false
	}
	if authority.LockOf(s.Scripts) >= sqlstmt.ForShare {
		return true
	}
	for _, sc := range s.Scripts {
		for _, st := range sc.Stmts {
			for _, f := range st.Funcs {
				if f == "pg_advisory_xact_lock" || f == "pg_try_advisory_xact_lock" || f == "pg_advisory_xact_lock_shared" {
					return true
				}
			}
		}
	}
	return false
}

// EntersGuard tells whether f locks a guard row in the transaction it is given and compares
// a token with it: fencedb's GuardTable does, and the writers of fence gen call it.
func EntersGuard(f *types.Func) bool { return guardMethod(f, "Enter", "EnterTx") }

// RunsInScope tells whether f begins such a transaction and runs what it is given in it.
func RunsInScope(f *types.Func) bool { return guardMethod(f, "InScope") }

func guardMethod(f *types.Func, names ...string) bool {
	if f == nil || f.Pkg() == nil || f.Pkg().Path() != "github.com/fencelint/fence/fencedb" || !slices.Contains(names, f.Name()) {
		return false
	}
	recv := f.Signature().Recv()
	if recv == nil {
		return false
	}
	n := ir.NamedOf(recv.Type())
	return n != nil && n.Obj().Name() == "GuardTable"
}

// asksSerializable tells whether an instruction sets a transaction's isolation level to
// serializable, or reads a package variable that has it so.
func (c *Code) asksSerializable(in ssa.Instruction) bool {
	switch in := in.(type) {
	case *ssa.Store:
		return serializable(in)
	case *ssa.UnOp:
		g, ok := in.X.(*ssa.Global)
		if !ok || g.Pkg != c.Pkg.SSA {
			return false
		}
		for _, st := range c.Pkg.GlobalStores(g) {
			if ld, ok := st.Val.(*ssa.UnOp); ok && c.serializableLiteral(ld.X) {
				return true
			}
		}
	}
	return false
}

// serializableLiteral tells whether a field of the struct at addr sets the level.
func (c *Code) serializableLiteral(addr ssa.Value) bool {
	for i := 0; ; i++ {
		f := ir.FieldOf(addr.Type(), i)
		if f == nil {
			return false
		}
		for _, s := range c.Pkg.Stores(f) {
			if s.Addr.X == addr && serializable(s.Store) {
				return true
			}
		}
	}
}

// serializable tells whether a store sets a transaction's isolation level to
// serializable: a field Isolation or IsoLevel of the options.
func serializable(st *ssa.Store) bool {
	fa, ok := st.Addr.(*ssa.FieldAddr)
	if !ok {
		return false
	}
	f := ir.FieldOf(fa.X.Type(), fa.Field)
	k, isConst := st.Val.(*ssa.Const)
	if f == nil || !isConst || k.Value == nil {
		return false
	}
	switch f.Name() {
	case "Isolation":
		return k.Value.ExactString() == "6" // sql.LevelSerializable
	case "IsoLevel":
		return k.Value.ExactString() == `"serializable"`
	}
	return false
}
