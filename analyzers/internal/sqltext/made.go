package sqltext

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/origin"
)

// This file reads a field of one struct value, where it is known which: the one that a
// function returned, not any that the package makes.

// made reads a field of the struct x: a copy of a local variable, or what a function of
// this package returns. It is nil if it is not known where the field was set.
func (e *eval) made(x ssa.Value, field *types.Var, fr *frames, depth int) []string {
	if depth > maxDepth || e.busy[visit{x, fr}] {
		return nil
	}
	e.busy[visit{x, fr}] = true
	defer delete(e.busy, visit{x, fr})
	i := 0
	switch v := x.(type) {
	case *ssa.UnOp:
		if root := origin.Root(e.r.Pkg, v.X); v.Op == token.MUL && root != nil {
			return e.ofVariable(root, field, fr, depth+1)
		}
		return nil
	case *ssa.Extract:
		x, i = v.Tuple, v.Index
	}
	call, ok := x.(*ssa.Call)
	if !ok {
		return nil
	}
	callee := ir.Callee(&call.Call)
	if callee == nil || callee.Pkg != e.r.Pkg.SSA || callee.Blocks == nil {
		return nil
	}
	for f := fr; f != nil; f = f.up {
		if f.fn == callee {
			return nil
		}
	}
	in := &frames{call: call, fn: callee, up: fr}
	var out []string
	for _, r := range ir.Results(callee, i) {
		texts := e.made(r, field, in, depth+1)
		if texts == nil {
			return nil
		}
		out = e.union(out, texts)
	}
	return out
}

// ofVariable reads a field of a local variable: as it was set by itself, else with the
// whole struct.
func (e *eval) ofVariable(root *ssa.Alloc, field *types.Var, fr *frames, depth int) []string {
	var out []string
	for _, s := range e.r.Pkg.Stores(field) {
		if origin.Root(e.r.Pkg, s.Addr.X) == root {
			out = e.union(out, e.value(s.Store.Val, fr, depth))
		}
	}
	if out != nil {
		return out
	}
	for _, s := range origin.Writes(root) {
		st, ok := s.(*ssa.Store)
		if !ok {
			return nil // its address was handed over
		}
		texts := e.made(st.Val, field, fr, depth)
		if texts == nil {
			return nil
		}
		out = e.union(out, texts)
	}
	return out
}
