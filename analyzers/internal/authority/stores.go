package authority

// This file tells an owner by what this package stores: a field or column that it
// sets to the very identity it later compares with.

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

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
				if s, ok := r.Sink.Spec(c.Common()); !ok || s.Store != sink.SQL || s.Text < 0 {
					continue
				}
				if site := r.Sink.Site(c); site != nil {
					r.noteColumns(site)
				}
			}
		}
	}
	return r.columns
}

func (r *Reader) noteColumns(site *sink.Site) {
	note := func(column string, e sqlstmt.Expr) {
		if e.Kind != sqlstmt.Param {
			return
		}
		v := r.Bound(site, e)
		if v == nil {
			return
		}
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
