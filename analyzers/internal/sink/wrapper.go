package sink

// This file finds the functions of a program that pass a parameter on as a text.

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/sqltext"
)

// wrapper tells whether fn passes one of its parameters on as SQL text or as a
// script.
func (r *Reader) wrapper(fn *ssa.Function) (Spec, bool) {
	if s, ok := r.wrappers[fn]; ok {
		if s == nil {
			return Spec{}, false
		}
		return *s, true
	}
	if r.wrappers == nil {
		r.wrappers, r.rendered = map[*ssa.Function]*Spec{}, map[*ssa.Function]ssa.Value{}
	}
	r.wrappers[fn] = nil // a recursive call is no wrapper
	if !hasText(fn.Signature.Params(), fn.Pkg.Pkg) {
		return Spec{}, false
	}
	shift := 0
	if fn.Signature.Recv() != nil {
		shift = 1
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			c, ok := in.(ssa.CallInstruction)
			if !ok {
				continue
			}
			s, ok := r.Spec(c.Common())
			if !ok || s.Store != SQL && s.Op != Script {
				continue
			}
			handed := func(v ssa.Value) int {
				if p := passedOn(v); p != nil && p.Parent() == fn {
					return slices.Index(fn.Params, p) - shift
				}
				return -1
			}
			text := textOf(c.Common(), s)
			w := Spec{Store: s.Store, Op: s.Op, Text: handed(text), Args: handed(Arg(c.Common(), s.Args)),
				Key: handed(Arg(c.Common(), s.Key)), Input: -1, Verb: s.Verb}
			if w.Text < 0 && s.Store == SQL {
				if p := startsWith(text, 0); p != nil && p.Parent() == fn {
					w.Text = slices.Index(fn.Params, p) - shift
					r.rendered[fn] = text
				}
			}
			if w.Text < 0 {
				continue
			}
			r.wrappers[fn] = &w
			return w, true
		}
	}
	return Spec{}, false
}

// sameText are functions whose result is, for what a statement does, the text that
// is their argument.
var sameText = map[string]int{
	"fmt.Sprintf": 0, "strings.TrimSpace": 0, "strings.ReplaceAll": 0, "strings.Replace": 0,
	"github.com/jmoiron/sqlx.Rebind": 1, "(*github.com/jmoiron/sqlx.DB).Rebind": 1, "(*github.com/jmoiron/sqlx.Tx).Rebind": 1,
	"(*regexp.Regexp).ReplaceAllString": 1, "github.com/jmoiron/sqlx.In": 0,
}

// startsWith returns the parameter that a text begins with, however it goes on: the
// statement is the caller's, with a table's name or placeholders filled in. nil: it
// begins otherwise.
func startsWith(v ssa.Value, depth int) *ssa.Parameter {
	const deep = 8
	if v == nil || depth > deep {
		return nil
	}
	switch x := v.(type) {
	case *ssa.Parameter:
		if isString(x.Type()) {
			return x
		}
	case *ssa.UnOp: // the statement in a struct of another package
		if fa, ok := x.X.(*ssa.FieldAddr); ok && x.Op == token.MUL && isString(x.Type()) {
			p, isParam := fa.X.(*ssa.Parameter)
			if n := ir.NamedOf(fa.X.Type()); isParam && n != nil && n.Obj().Pkg() != p.Parent().Pkg.Pkg {
				return p
			}
		}
	case *ssa.BinOp:
		return startsWith(x.X, depth+1)
	case *ssa.Extract:
		if c, ok := x.Tuple.(*ssa.Call); ok && x.Index == 0 {
			return startsWith(c, depth+1)
		}
	case *ssa.Phi:
		var p *ssa.Parameter
		for _, e := range x.Edges {
			q := startsWith(e, depth+1)
			if q == nil || p != nil && p != q {
				return nil
			}
			p = q
		}
		return p
	case *ssa.Call:
		if obj := ir.Object(&x.Call); obj != nil {
			if i, ok := sameText[obj.FullName()]; ok && i < len(x.Call.Args) {
				return startsWith(x.Call.Args[i], depth+1)
			}
		}
	}
	return nil
}

// StartsWith returns the parameter that a text begins with, or nil.
func StartsWith(v ssa.Value) *ssa.Parameter { return startsWith(v, 0) }

// Renders tells whether fn, of this package, makes the text that it sends of one of
// its parameters.
func (r *Reader) Renders(fn *ssa.Function) bool { return r.rendered[fn] != nil }

// WrapperOf tells whether fn, of this package, passes a parameter on as SQL or as
// a script.
func (r *Reader) WrapperOf(fn *ssa.Function) (Spec, bool) { return r.wrapper(fn) }

// hasText tells whether one of the parameters may hold a text: the text, a script, or a
// struct of another package that has one.
func hasText(ps *types.Tuple, pkg *types.Package) bool {
	for i := range ps.Len() {
		if n := ir.NamedOf(ps.At(i).Type()); n != nil && n.Obj().Pkg() != nil && n.Obj().Pkg() != pkg {
			if st, ok := n.Underlying().(*types.Struct); ok {
				for f := range st.Fields() {
					if f.Exported() && isString(f.Type()) {
						return true
					}
				}
			}
		}
		if isString(ps.At(i).Type()) || sqltext.IsPrepared(ps.At(i).Type()) || ir.IsNamed(ps.At(i).Type(), "github.com/redis/go-redis/v9", "Script") {
			return true
		}
	}
	return false
}

// passedOn returns the parameter that v is, unchanged, or nil.
func passedOn(v ssa.Value) *ssa.Parameter {
	for range 8 {
		switch x := v.(type) {
		case *ssa.Parameter:
			return x
		case *ssa.ChangeType:
			v = x.X
		case *ssa.Convert:
			v = x.X
		case *ssa.MakeInterface:
			v = x.X
		case *ssa.UnOp:
			if a, ok := x.X.(*ssa.Alloc); ok && x.Op == token.MUL {
				v = onlyStore(a)
				continue
			}
			return nil
		default:
			return nil
		}
	}
	return nil
}
