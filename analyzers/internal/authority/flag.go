package authority

// This file finds flags that are set only where ownership was proven.

import (
	"go/constant"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
)

// flag tells whether a bool field is set only where ownership was proven.
func (r *Reader) flag(f *types.Var) *Evidence {
	if f == nil {
		return nil
	}
	if ev, ok := r.flags[f]; ok {
		return ev
	}
	r.flags[f] = nil
	var ev *Evidence
	for _, s := range r.Pkg.Stores(f) {
		if isFalse(s.Store.Val) {
			continue
		}
		e := r.flagged(s.Store, s.Store.Val)
		if e == nil {
			return nil
		}
		ev = e
	}
	if e := r.atomicFlag(f); e != nil {
		ev = e
	}
	r.flags[f] = ev
	return ev
}

// atomicFlag does the same for an atomic.Bool.
func (r *Reader) atomicFlag(f *types.Var) *Evidence {
	if !ir.IsNamed(f.Type(), "sync/atomic", "Bool") {
		return nil
	}
	var ev *Evidence
	for _, c := range r.Pkg.FieldCalls(f, "Store") {
		if len(c.Common().Args) < 2 || isFalse(c.Common().Args[1]) {
			continue
		}
		e := r.flagged(c, c.Common().Args[1])
		if e == nil {
			return nil
		}
		ev = e
	}
	return ev
}

// flagged tells whether a flag that is set to v at in is true only where ownership
// was proven: it is set there, or v proves it itself (ok && err == nil).
func (r *Reader) flagged(in ssa.Instruction, v ssa.Value) *Evidence {
	if isTrue(v) {
		return r.provenAt(in)
	}
	for _, ev := range r.prove(v, true, nil, 0) {
		if !ev.Weak && !ev.Held && ev.Kind != Absent {
			return &ev
		}
	}
	return nil
}

func (r *Reader) provenAt(in ssa.Instruction) *Evidence {
	for _, reg := range r.Regions(in.Parent()) {
		if reg.Contains(in) && !reg.Ev.Weak && !reg.Ev.Held && reg.Ev.Kind != Absent {
			ev := reg.Ev
			return &ev
		}
	}
	return nil
}

func isTrue(v ssa.Value) bool  { return isBool(v, true) }
func isFalse(v ssa.Value) bool { return isBool(v, false) }

func isBool(v ssa.Value, b bool) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value != nil && c.Value.Kind() == constant.Bool && constant.BoolVal(c.Value) == b
}

func isNil(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value == nil
}
