package authority

// This file tells an owner by what this package stores: a field or column that it
// sets to the very identity it later compares with.

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/record"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// storesOwn tells whether this package stores the field that mine is read from
// where d was read.
func (r *Reader) storesOwn(d record.Datum, mine ssa.Value) bool {
	own := fieldRead(mine)
	if own == nil {
		return false
	}
	if d.Field != nil {
		for _, s := range r.Pkg.Stores(d.Field) {
			if fieldRead(s.Store.Val) == own {
				return true
			}
		}
	}
	return d.Column != "" && r.storedColumns()[own][strings.ToLower(d.Column)]
}

// OwnerStruct tells whether a struct carries an owner by what this package does
// with it: a field named after a process or a machine is set to an identity of this
// process, and compared with that very identity.
func (r *Reader) OwnerStruct(n *types.Named) bool {
	if n == nil {
		return false
	}
	s, ok := n.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range s.NumFields() {
		f := s.Field(i)
		if !lease.Process.Has(f.Name()) || lease.Foreign.Has(f.Name()) {
			continue
		}
		for own := range r.comparedFields()[f] {
			if r.setTo(f, own) {
				return true
			}
		}
	}
	return false
}

// setTo tells whether this package stores field own in field f, or in its column.
func (r *Reader) setTo(f, own *types.Var) bool {
	for _, s := range r.Pkg.Stores(f) {
		if fieldRead(s.Store.Val) == own {
			return true
		}
	}
	return r.storedColumns()[own][strings.Join(lease.Words(f.Name()), "_")]
}

// comparedFields maps each field to those fields of a method's receiver that it is
// compared with for equality.
func (r *Reader) comparedFields() map[*types.Var]map[*types.Var]bool {
	if r.equals != nil {
		return r.equals
	}
	r.equals = map[*types.Var]map[*types.Var]bool{}
	note := func(x, y ssa.Value) {
		f, own := fieldRead(x), fieldRead(y)
		if f == nil || own == nil || f == own || r.identity(y) != isSelf {
			return
		}
		if r.equals[f] == nil {
			r.equals[f] = map[*types.Var]bool{}
		}
		r.equals[f][own] = true
	}
	for _, fn := range r.Pkg.Funcs {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				if op, ok := in.(*ssa.BinOp); ok && (op.Op == token.EQL || op.Op == token.NEQ) {
					note(op.X, op.Y)
					note(op.Y, op.X)
				}
			}
		}
	}
	return r.equals
}

// storedColumns maps each field of this package to the columns that a statement
// sets to it, in lower case.
func (r *Reader) storedColumns() map[*types.Var]map[string]bool {
	if r.columns != nil {
		return r.columns
	}
	r.columns = map[*types.Var]map[string]bool{}
	for _, fn := range r.Pkg.Funcs {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				c, ok := in.(ssa.CallInstruction)
				if !ok {
					continue
				}
				if site := r.Sink.Site(c); site != nil && site.Spec.Store == sink.SQL {
					r.noteColumns(site)
				}
			}
		}
	}
	return r.columns
}

// noteColumn notes that a column is set to v, if v is read from a field.
func (r *Reader) noteColumn(column string, v ssa.Value) {
	if mi, ok := v.(*ssa.MakeInterface); ok {
		v = mi.X
	}
	f := fieldRead(v)
	if f == nil {
		return
	}
	if r.columns[f] == nil {
		r.columns[f] = map[string]bool{}
	}
	r.columns[f][strings.ToLower(column)] = true
}

func (r *Reader) noteColumns(site *sink.Site) {
	note := func(column string, e sqlstmt.Expr) {
		if e.Kind != sqlstmt.Param {
			return
		}
		if v := r.Bound(site, e); v != nil {
			r.noteColumn(column, v)
		}
	}
	for _, sc := range site.Scripts {
		for _, st := range sc.Stmts {
			for _, w := range st.Writes {
				for _, a := range w.Set {
					note(a.Column, a.Value)
				}
				for _, row := range w.Values {
					for i, e := range row {
						if i < len(w.Columns) {
							note(w.Columns[i], e)
						}
					}
				}
			}
		}
	}
}
