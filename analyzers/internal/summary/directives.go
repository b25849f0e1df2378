package summary

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/fencelint/fence/analyzers/internal/authority"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/resource"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/config"
)

// Directives returns what the //fence: comments of a package declare, in source
// order. A comment that says nothing known is reported by the driver.
func Directives(pass *analysis.Pass) []resource.Declaration {
	var out []resource.Declaration
	for _, f := range pass.Files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				fn, _ := pass.TypesInfo.Defs[d.Name].(*types.Func)
				if fn != nil {
					out = append(out, read(d.Doc, resource.FuncKey(fn))...)
				}
			case *ast.GenDecl:
				if d.Tok == token.TYPE {
					out = append(out, typeDirectives(pass, d)...)
				}
			}
		}
	}
	return out
}

// typeDirectives reads the comments on interface methods and struct fields.
func typeDirectives(pass *analysis.Pass, d *ast.GenDecl) []resource.Declaration {
	var out []resource.Declaration
	for _, s := range d.Specs {
		ts, ok := s.(*ast.TypeSpec)
		if !ok {
			continue
		}
		var fields *ast.FieldList
		switch t := ts.Type.(type) {
		case *ast.InterfaceType:
			fields = t.Methods
		case *ast.StructType:
			fields = t.Fields
		default:
			continue
		}
		for _, f := range fields.List {
			for _, n := range f.Names {
				key := pass.Pkg.Path() + "." + ts.Name.Name + "." + n.Name
				out = append(out, read(f.Doc, key)...)
				out = append(out, read(f.Comment, key)...)
			}
		}
	}
	return out
}

func read(doc *ast.CommentGroup, key string) []resource.Declaration {
	if doc == nil {
		return nil
	}
	var out []resource.Declaration
	for _, c := range doc.List {
		if d, ok, err := config.ParseGo(c.Text, config.Pos{}); ok && err == nil {
			out = append(out, resource.Declaration{Verb: d.Verb, Name: key, Args: d.Args})
		}
	}
	return out
}

// declared puts what directives say of functions into their summaries, for the
// packages that call them.
func declared(pass *analysis.Pass, r *Result, ds []resource.Declaration) {
	if len(ds) == 0 {
		return
	}
	byKey := map[string][]resource.Declaration{}
	for _, d := range ds {
		byKey[d.Name] = append(byKey[d.Name], d)
	}
	for _, obj := range pass.TypesInfo.Defs {
		f, ok := obj.(*types.Func)
		if !ok {
			continue
		}
		for _, d := range byKey[resource.FuncKey(f)] {
			s := r.Funcs[f]
			if s == nil {
				s = &Func{}
				r.Funcs[f] = s
			}
			s.declare(f, d)
		}
	}
}

func (f *Func) declare(obj *types.Func, d resource.Declaration) {
	switch d.Verb {
	case "check", "lease":
		f.Proofs = proofsOf(obj, d.Verb == "lease")
	case "write":
		name := obj.Name()
		if len(d.Args) > 0 {
			name = d.Args[0]
		}
		f.Writes = []Write{{Store: sink.Declared, Verb: obj.Name(), Target: name, At: resource.FuncKey(obj)}}
	}
}

// proofsOf: a true bool and a nil error of a declared check prove ownership, and
// so does any other result that lets the code go on (number -1).
func proofsOf(f *types.Func, acquires bool) []authority.Proof {
	var out []authority.Proof
	res := f.Type().(*types.Signature).Results()
	for i := range res.Len() {
		switch t := res.At(i).Type(); {
		case types.Identical(t, types.Typ[types.Bool]):
			out = append(out, authority.Proof{Result: i, Mode: lease.True, Acquires: acquires})
		case types.Identical(t, types.Universe.Lookup("error").Type()):
			out = append(out, authority.Proof{Result: i, Mode: lease.NilError, Acquires: acquires})
		}
	}
	return append(out, authority.Proof{Result: -1})
}
