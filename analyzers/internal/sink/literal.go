package sink

// This file reads struct literals and local variables that a builder is given: what
// their fields are set to, and whether somebody else may have set them.

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/origin"
)

// literal returns the local variable that a struct, or a pointer to one, is kept
// in, or nil.
func (r *Reader) literal(v ssa.Value) *ssa.Alloc {
	v = plain(v)
	if ld, ok := v.(*ssa.UnOp); ok {
		return origin.Root(r.Pkg, ld.X)
	}
	if a, ok := v.(*ssa.Alloc); ok {
		if st, ok := onlyStore(a).(*ssa.Alloc); ok { // a variable that holds the pointer
			return st
		}
		return a
	}
	return nil
}

// field is a field of a literal and what is put there.
type field struct {
	addr *ssa.FieldAddr
	val  ssa.Value
}

// fields are the assignments to fields of a local struct, in code order, those of a
// literal that it is a copy of included.
func fields(root *ssa.Alloc) []field {
	var out []field
	for _, in := range *root.Referrers() {
		if lit := copied(in, root); lit != nil {
			out = append(out, fields(lit)...)
		}
		fa, ok := in.(*ssa.FieldAddr)
		if !ok {
			continue
		}
		for _, use := range *fa.Referrers() {
			if st, ok := use.(*ssa.Store); ok && st.Addr == fa {
				out = append(out, field{fa, st.Val})
			}
		}
	}
	return out
}

// copied returns the literal that in copies to root, or nil.
func copied(in ssa.Instruction, root *ssa.Alloc) *ssa.Alloc {
	st, ok := in.(*ssa.Store)
	if !ok || st.Addr != ssa.Value(root) {
		return nil
	}
	ld, ok := st.Val.(*ssa.UnOp)
	if !ok {
		return nil
	}
	lit, ok := ld.X.(*ssa.Alloc)
	if !ok || lit.Comment != "complit" {
		return nil
	}
	return lit
}

// fieldOf returns what a field of a literal is set to, or nil.
func fieldOf(root *ssa.Alloc, name string) ssa.Value {
	for _, f := range fields(root) {
		if v := ir.FieldOf(f.addr.X.Type(), f.addr.Field); v != nil && v.Name() == name {
			return f.val
		}
	}
	return nil
}

// within returns what field inner of the struct in field outer of a literal is set
// to; touched: the outer field is set at all.
func within(r *Reader, root *ssa.Alloc, outer, inner string) (v ssa.Value, touched bool) {
	for _, in := range *root.Referrers() {
		fa, ok := in.(*ssa.FieldAddr)
		if !ok {
			continue
		}
		if f := ir.FieldOf(fa.X.Type(), fa.Field); f == nil || f.Name() != outer {
			continue
		}
		touched = true
		for _, use := range *fa.Referrers() {
			switch use := use.(type) {
			case *ssa.FieldAddr:
				if f := ir.FieldOf(use.X.Type(), use.Field); f != nil && f.Name() == inner {
					for _, st := range *use.Referrers() {
						if st, ok := st.(*ssa.Store); ok {
							return st.Val, true
						}
					}
				}
			case *ssa.Store:
				if lit := r.literal(use.Val); lit != nil && use.Addr == ssa.Value(fa) {
					return fieldOf(lit, inner), true
				}
			}
		}
	}
	return nil, touched
}

// zero tells whether v is a constant that stands for "not set".
func zero(v ssa.Value) bool {
	c, ok := plain(v).(*ssa.Const)
	if !ok {
		return false
	}
	if c.Value == nil {
		return true
	}
	return slices.Contains([]string{`""`, "0", "false"}, c.Value.ExactString())
}

// assigned are the columns that a literal sets, those with a zero constant left out.
func assigned(root *ssa.Alloc) []assign {
	var out []assign
	for _, f := range fields(root) {
		if !zero(f.val) {
			out = append(out, assign{columnName(f.addr), param(f.val)})
		}
	}
	return out
}

// touched tells whether a local struct may have got values otherwise than by
// assignments to its fields: it was read from a store, copied, or handed to
// somebody who may fill it.
func touched(root *ssa.Alloc) bool {
	var by func(v ssa.Value, depth int) bool
	by = func(v ssa.Value, depth int) bool {
		for _, in := range *v.Referrers() {
			switch in := in.(type) {
			case *ssa.Store:
				if in.Addr == v {
					if lit := copied(in, root); lit != nil && !touched(lit) {
						continue
					}
					return true
				}
				if ia, ok := in.Addr.(*ssa.IndexAddr); ok && depth < 6 {
					if by(ia.X, depth+1) {
						return true
					}
					continue
				}
				return true // known by another name too
			case *ssa.MakeInterface:
				if by(in, depth+1) {
					return true
				}
			case *ssa.Slice:
				if by(in, depth+1) {
					return true
				}
			case ssa.CallInstruction:
				if !onlyReads(in) {
					return true
				}
			case *ssa.FieldAddr:
				if handedOn(in) {
					return true
				}
			case *ssa.MakeClosure:
				return true
			}
		}
		return false
	}
	return by(root, 0)
}

// handedOn tells whether the address of a field is given away.
func handedOn(fa *ssa.FieldAddr) bool {
	for _, in := range *fa.Referrers() {
		switch in := in.(type) {
		case ssa.CallInstruction, *ssa.MakeInterface:
			return true
		case *ssa.Store:
			if in.Val == fa {
				return true
			}
		}
	}
	return false
}

// onlyReads tells whether a call takes a model without filling it: the methods that
// a builder writes it with.
func onlyReads(c ssa.CallInstruction) bool {
	obj := ir.Object(c.Common())
	if builderOf(obj) == nil {
		return false
	}
	switch obj.Name() {
	case "Model", "Where", "Not", "Or", "Updates", "UpdateColumns", "Update", "Delete", "Create", "Save", "CreateInBatches", "Clauses", "Exec":
		return true
	}
	return false
}

// created tells whether a local struct was inserted before: the store has given it
// its key and its version.
func created(root *ssa.Alloc) bool {
	for _, in := range *root.Referrers() {
		mi, ok := in.(*ssa.MakeInterface)
		if !ok {
			continue
		}
		for _, use := range *mi.Referrers() {
			c, ok := use.(*ssa.Call)
			if !ok {
				continue
			}
			if obj := ir.Object(&c.Call); builderOf(obj) != nil && (obj.Name() == "Create" || obj.Name() == "FirstOrCreate") {
				return true
			}
		}
	}
	return false
}
