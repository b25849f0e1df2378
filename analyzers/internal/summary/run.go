package summary

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/sink"
)

// Result is what summing up one package gave.
type Result struct {
	// Funcs are the summaries that say something, unexported functions included.
	Funcs map[*types.Func]*Func
	// Code is the package as it was read, for the checks to go on with; nil if the
	// package was not worth reading.
	Code *Code
	// Siblings are the package's statements that treat a column as a fence.
	Siblings []Sibling
	// Lookup answers for other packages what it answered when this one was summed
	// up, and more once interfaces are joined.
	Lookup Lookup
}

// Run sums up the package of pass and exports the facts about it.
func Run(pass *analysis.Pass, ssa *ir.Provider, lookup Lookup, hits *origin.Hits) *Result {
	r := &Result{Funcs: map[*types.Func]*Func{}}
	clocks(pass, r)
	ages(pass, r)
	returns(pass, r)
	if Opened(pass, lookup) {
		r.Code = New(ssa.Get(), lookup, nil, hits)
		for _, fn := range r.Code.Pkg.Funcs {
			obj, _ := fn.Object().(*types.Func)
			if obj == nil {
				continue
			}
			s := r.Code.Func(fn)
			if old := r.Funcs[obj]; old != nil {
				s.Clock, s.Ages, s.Returns = old.Clock, old.Ages, old.Returns
			}
			if !s.Empty() {
				r.Funcs[obj] = s
			}
		}
		r.Siblings = r.Code.Siblings()
		for v, s := range r.Code.Fields() {
			pass.ExportObjectFact(v, &s)
		}
	}
	declared(pass, r, Directives(pass))
	for f, s := range r.Funcs {
		if f.Exported() {
			pass.ExportObjectFact(f, s)
		}
	}
	return r
}

// Opened tells whether a package is worth reading: it imports a store or a lease
// library, or calls something that is known to do what those do. It looks at
// identifiers only.
func Opened(pass *analysis.Pass, lookup Lookup) bool {
	for _, p := range pass.Pkg.Imports() {
		if sink.StorePackage(p.Path()) || lease.Known(p.Path()) {
			return true
		}
	}
	seen := map[*types.Func]bool{}
	for _, obj := range pass.TypesInfo.Uses {
		f, ok := obj.(*types.Func)
		if !ok || f.Pkg() == nil || f.Pkg() == pass.Pkg || seen[f] {
			continue
		}
		seen[f] = true
		if s := lookup.Func(f); s != nil && (len(s.Writes) > 0 || len(s.Proofs) > 0 || s.Text != nil || len(s.OwnerArgs) > 0 || len(s.Binds) > 0 || s.Locks || len(s.Sent) > 0) {
			return true
		}
	}
	return false
}

// clocks finds functions that return this process's time, from the syntax: a
// body of one return of a chain of calls on time.Now().
func clocks(pass *analysis.Pass, r *Result) {
	for _, file := range pass.Files {
		for _, d := range file.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok || fd.Body == nil || len(fd.Body.List) != 1 {
				continue
			}
			ret, ok := fd.Body.List[0].(*ast.ReturnStmt)
			if !ok || len(ret.Results) != 1 {
				continue
			}
			f, _ := pass.TypesInfo.Defs[fd.Name].(*types.Func)
			if f == nil || !ir.IsNamed(pass.TypesInfo.TypeOf(ret.Results[0]), "time", "Time") {
				continue
			}
			if c := chain(pass.TypesInfo, ret.Results[0]); c != NoClock {
				r.Funcs[f] = &Func{Clock: c}
			}
		}
	}
}

func chain(info *types.Info, e ast.Expr) Clock {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return NoClock
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return NoClock
	}
	f, _ := info.Uses[sel.Sel].(*types.Func)
	if f == nil || f.Pkg() == nil || f.Pkg().Path() != "time" {
		return NoClock
	}
	if f.Type().(*types.Signature).Recv() == nil {
		if f.Name() == "Now" {
			return Monotonic
		}
		return NoClock
	}
	inner := chain(info, sel.X)
	if inner == NoClock {
		return NoClock
	}
	switch f.Name() {
	case "UTC", "In", "Local", "Round", "Truncate", "AddDate":
		return Wall
	case "Add":
		return inner
	}
	return NoClock
}

// ages finds functions that compare a time they are given with the clock, from
// the syntax: time.Now().After(t), t.Before(time.Now()), time.Since(t).
func ages(pass *analysis.Pass, r *Result) {
	for _, file := range pass.Files {
		for _, d := range file.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok || fd.Body == nil || len(fd.Body.List) > 3 {
				continue
			}
			f, _ := pass.TypesInfo.Defs[fd.Name].(*types.Func)
			if f == nil {
				continue
			}
			ps := f.Type().(*types.Signature).Params()
			for i := range ps.Len() {
				if ir.IsNamed(ps.At(i).Type(), "time", "Time") && aged(pass.TypesInfo, fd.Body, ps.At(i)) {
					if r.Funcs[f] == nil {
						r.Funcs[f] = &Func{}
					}
					r.Funcs[f].Ages = append(r.Funcs[f].Ages, i)
				}
			}
		}
	}
}

// aged tells whether body compares the parameter p with the clock.
func aged(info *types.Info, body *ast.BlockStmt, p *types.Var) bool {
	is := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && info.Uses[id] == p
	}
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return !found
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return !found
		}
		f, _ := info.Uses[sel.Sel].(*types.Func)
		if f == nil || f.Pkg() == nil || f.Pkg().Path() != "time" {
			return !found
		}
		switch f.Name() {
		case "Since", "Until":
			found = found || is(call.Args[0])
		case "After", "Before", "Sub", "Compare":
			found = found || is(call.Args[0]) && chain(info, sel.X) != NoClock || is(sel.X) && chain(info, call.Args[0]) != NoClock
		}
		return !found
	})
	return found
}
