// Package ir answers one question: what is this package's code as SSA, and
// where inside it is a function called or a field set?
//
// SSA is built at first use and not through buildssa, whose Requires make every
// driver load and build all dependencies.
package ir

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// Package is one package's SSA with the indexes that tracing needs. It is
// read-only after Build and safe for concurrent use.
type Package struct {
	Fset  *token.FileSet
	Types *types.Package
	Info  *types.Info
	Files []*ast.File
	SSA   *ssa.Package
	// Funcs are all functions with a body in source order, literals included.
	Funcs []*ssa.Function

	callers  map[*ssa.Function][]ssa.CallInstruction
	closures map[*ssa.Function][]*ssa.MakeClosure
	values   map[*ssa.Function][]ssa.Instruction
	fields   map[*types.Var][]FieldStore
	globals  map[*ssa.Global][]*ssa.Store
	invokes  map[string][]ssa.CallInstruction
	outs     map[*types.Var][]FieldOut
	bound    map[*types.Func][]*ssa.MakeClosure
	called   map[string]bool
	impls    map[method][]*ssa.Function
}

// FieldOut is a call that was handed a field's address, so that it may fill it:
// Scan(&row.Owner).
type FieldOut struct {
	Call *ssa.Call
	Addr *ssa.FieldAddr
}

// FieldStore is one assignment to a struct field.
type FieldStore struct {
	Store *ssa.Store
	Addr  *ssa.FieldAddr
}

// Provider builds a package's SSA once, when it is first asked for.
type Provider struct {
	once  sync.Once
	build func() *Package
	pkg   *Package
}

// NewProvider returns the provider for the package of pass, leaving out the
// files for which skip is true (nil: none).
func NewProvider(pass *analysis.Pass) *Provider {
	return &Provider{build: func() *Package {
		return Build(pass.Fset, pass.Pkg, pass.Files, pass.TypesInfo)
	}}
}

// Get returns the package's SSA.
func (p *Provider) Get() *Package {
	p.once.Do(func() { p.pkg = p.build(); p.build = nil })
	return p.pkg
}

// noReturn names the functions after which nothing runs. It stands in for
// ctrlflow's facts, which cost a pass over every dependency.
var noReturn = map[string]bool{
	"os.Exit": true, "log.Fatal": true, "log.Fatalf": true, "log.Fatalln": true,
	"log.Panic": true, "log.Panicf": true, "log.Panicln": true, "runtime.Goexit": true,
	"(*log.Logger).Fatal": true, "(*log.Logger).Fatalf": true, "(*log.Logger).Fatalln": true,
	"k8s.io/klog/v2.Fatal": true, "k8s.io/klog/v2.Fatalf": true, "k8s.io/klog/v2.FlushAndExit": true,
}

// Build builds SSA for one type-checked package.
func Build(fset *token.FileSet, pkg *types.Package, files []*ast.File, info *types.Info) *Package {
	prog := ssa.NewProgram(fset, 0)
	prog.SetNoReturn(func(f *types.Func) bool { return noReturn[f.FullName()] })
	for _, p := range pkg.Imports() {
		prog.CreatePackage(p, nil, nil, true)
	}
	sp := prog.CreatePackage(pkg, files, info, false)
	sp.Build()

	p := &Package{
		Fset: fset, Types: pkg, Info: info, Files: files, SSA: sp,
		callers:  make(map[*ssa.Function][]ssa.CallInstruction),
		closures: make(map[*ssa.Function][]*ssa.MakeClosure),
		values:   make(map[*ssa.Function][]ssa.Instruction),
		fields:   make(map[*types.Var][]FieldStore),
		globals:  make(map[*ssa.Global][]*ssa.Store),
		invokes:  make(map[string][]ssa.CallInstruction),
		outs:     make(map[*types.Var][]FieldOut),
		bound:    make(map[*types.Func][]*ssa.MakeClosure),
		called:   make(map[string]bool),
		impls:    make(map[method][]*ssa.Function),
	}
	p.collect(files, info)
	for _, f := range p.Funcs {
		p.index(f)
	}
	if init := sp.Func("init"); init != nil {
		p.index(init)
	}
	return p
}

func (p *Package) collect(files []*ast.File, info *types.Info) {
	var add func(f *ssa.Function)
	add = func(f *ssa.Function) {
		p.Funcs = append(p.Funcs, f)
		for _, a := range f.AnonFuncs {
			add(a)
		}
	}
	for _, file := range files {
		for _, d := range file.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			fn, _ := info.Defs[fd.Name].(*types.Func)
			if fn == nil {
				continue
			}
			if f := p.SSA.Prog.FuncValue(fn); f != nil && f.Blocks != nil {
				add(f)
			}
		}
	}
	if init := p.SSA.Func("init"); init != nil {
		for _, a := range init.AnonFuncs { // function literals of package variables
			add(a)
		}
	}
}

func (p *Package) index(f *ssa.Function) {
	var ops []*ssa.Value
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			var callee *ssa.Function
			if c, ok := in.(ssa.CallInstruction); ok {
				cc := c.Common()
				if o := Object(cc); o != nil {
					p.called[o.Name()] = true
				}
				if callee = Callee(cc); callee != nil {
					p.callers[callee] = append(p.callers[callee], c)
				} else if cc.IsInvoke() {
					p.invokes[cc.Method.Name()] = append(p.invokes[cc.Method.Name()], c)
				}
			}
			switch in := in.(type) {
			case *ssa.FieldAddr:
				if v := FieldOf(in.X.Type(), in.Field); v != nil {
					for _, c := range handedTo(in, 0) {
						p.outs[v] = append(p.outs[v], FieldOut{c, in})
					}
				}
			case *ssa.MakeClosure:
				if fn, ok := in.Fn.(*ssa.Function); ok {
					p.closures[fn] = append(p.closures[fn], in)
					if m, ok := fn.Object().(*types.Func); ok && fn.Synthetic != "" {
						p.bound[m.Origin()] = append(p.bound[m.Origin()], in)
					}
				}
			case *ssa.Store:
				switch a := in.Addr.(type) {
				case *ssa.FieldAddr:
					if v := FieldOf(a.X.Type(), a.Field); v != nil {
						p.fields[v] = append(p.fields[v], FieldStore{in, a})
					}
				case *ssa.Global:
					p.globals[a] = append(p.globals[a], in)
				}
			}
			ops = in.Operands(ops[:0])
			for i, o := range ops {
				fn, ok := (*o).(*ssa.Function)
				if !ok {
					continue
				}
				if _, isCall := in.(ssa.CallInstruction); isCall && i == 0 && callee != nil {
					continue // the function called, not a value
				}
				fn = Origin(fn)
				p.values[fn] = append(p.values[fn], in)
			}
		}
	}
}

// handedTo returns the calls that get the address addr, directly or in a list of
// arguments.
func handedTo(addr ssa.Value, depth int) []*ssa.Call {
	if addr.Referrers() == nil || depth > 4 {
		return nil
	}
	var out []*ssa.Call
	for _, in := range *addr.Referrers() {
		switch in := in.(type) {
		case *ssa.Call:
			for _, a := range in.Call.Args {
				if a == addr {
					out = append(out, in)
					break
				}
			}
		case *ssa.MakeInterface:
			out = append(out, handedTo(in, depth+1)...)
		case *ssa.Slice:
			out = append(out, handedTo(in, depth+1)...)
		case *ssa.Store:
			if ia, ok := in.Addr.(*ssa.IndexAddr); ok && in.Val == addr {
				out = append(out, handedTo(ia.X, depth+1)...)
			}
		}
	}
	return out
}

// Origin returns the generic function f is an instance of, or f, looking
// through the wrappers of bound methods.
func Origin(f *ssa.Function) *ssa.Function {
	if f == nil {
		return nil
	}
	if o := f.Origin(); o != nil {
		return o
	}
	return f
}

// Callee returns the function c calls for certain, or nil: a function, a
// method, or a literal called where it stands.
func Callee(c *ssa.CallCommon) *ssa.Function { return Origin(c.StaticCallee()) }

// Results returns what fn returns at i, for each of its returns.
func Results(fn *ssa.Function, i int) []ssa.Value {
	var out []ssa.Value
	for _, b := range fn.Blocks {
		if len(b.Instrs) == 0 {
			continue
		}
		if r, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && i < len(r.Results) {
			out = append(out, r.Results[i])
		}
	}
	return out
}

// Object returns the declared function behind c: the callee's, or the interface
// method's. It is nil for a call of a function value. Generic functions are
// given as declared.
func Object(c *ssa.CallCommon) *types.Func {
	if c.IsInvoke() {
		return c.Method.Origin()
	}
	f := c.StaticCallee()
	if f == nil {
		return nil
	}
	if o, ok := f.Object().(*types.Func); ok {
		return o.Origin()
	}
	if g := Origin(f); g != nil {
		if o, ok := g.Object().(*types.Func); ok {
			return o.Origin()
		}
	}
	return nil
}

// Generated tells whether pos lies in a file that nobody edits.
func (p *Package) Generated(pos token.Pos) bool {
	for _, f := range p.Files {
		if f.FileStart <= pos && pos <= f.FileEnd {
			return IsGenerated(f)
		}
	}
	return false
}

// IsGenerated tells whether nobody edits f. What cgo makes of a file is as
// generated as the file is: its own header does not count.
func IsGenerated(f *ast.File) bool {
	const cgo = "// Code generated by cmd/cgo; DO NOT EDIT."
	for _, group := range f.Comments {
		if group.Pos() > f.Package {
			return false
		}
		for _, c := range group.List {
			if c.Text != cgo && strings.HasPrefix(c.Text, "// Code generated ") && strings.HasSuffix(c.Text, " DO NOT EDIT.") {
				return true
			}
		}
	}
	return false
}

// Callers returns the static calls of f inside the package, go and defer included.
func (p *Package) Callers(f *ssa.Function) []ssa.CallInstruction { return p.callers[Origin(f)] }

// Closures returns where the literal f is made.
func (p *Package) Closures(f *ssa.Function) []*ssa.MakeClosure { return p.closures[f] }

// Bound returns where method m is taken as a value (x.m).
func (p *Package) Bound(m *types.Func) []*ssa.MakeClosure { return p.bound[m.Origin()] }

// Values returns the instructions that use f as a value rather than call it.
func (p *Package) Values(f *ssa.Function) []ssa.Instruction { return p.values[Origin(f)] }

// Stores returns the assignments to field v inside the package.
func (p *Package) Stores(v *types.Var) []FieldStore { return p.fields[v.Origin()] }

// GlobalStores returns the assignments to a package variable.
func (p *Package) GlobalStores(g *ssa.Global) []*ssa.Store { return p.globals[g] }

// Calls tells whether the package calls any function or method of that name.
func (p *Package) Calls(name string) bool { return p.called[name] }

// Invokes returns the calls of interface methods of that name.
func (p *Package) Invokes(name string) []ssa.CallInstruction { return p.invokes[name] }

// Outs returns the calls inside the package that were handed the address of
// field v.
func (p *Package) Outs(v *types.Var) []FieldOut { return p.outs[v.Origin()] }

// FieldCalls returns the calls of the method of that name on field v (of a type
// from another package, such as atomic.Bool).
func (p *Package) FieldCalls(v *types.Var, method string) []ssa.CallInstruction {
	var out []ssa.CallInstruction
	for fn, calls := range p.callers {
		if fn.Name() != method || fn.Signature.Recv() == nil {
			continue
		}
		for _, c := range calls {
			if fa, ok := c.Common().Args[0].(*ssa.FieldAddr); ok && FieldOf(fa.X.Type(), fa.Field) == v {
				out = append(out, c)
			}
		}
	}
	return out
}

// FieldOf returns field i of struct (or pointer to struct) t, as declared.
func FieldOf(t types.Type, i int) *types.Var {
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok || i >= s.NumFields() {
		return nil
	}
	return s.Field(i).Origin()
}

// TagOf returns the struct tag of field i of t.
func TagOf(t types.Type, i int) string {
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if s, ok := t.Underlying().(*types.Struct); ok && i < s.NumFields() {
		return s.Tag(i)
	}
	return ""
}

// NamedOf returns the named type behind t or a pointer to it, or nil.
func NamedOf(t types.Type) *types.Named {
	t = types.Unalias(t)
	if ptr, ok := t.(*types.Pointer); ok {
		t = types.Unalias(ptr.Elem())
	}
	n, _ := t.(*types.Named)
	return n
}

// IsNamed tells whether t, or what it points to, is the type path.name.
func IsNamed(t types.Type, path, name string) bool {
	n := NamedOf(t)
	if n == nil || n.Obj().Name() != name {
		return false
	}
	pkg := n.Obj().Pkg()
	return pkg != nil && pkg.Path() == path
}

// Top returns the declared function a literal lies in.
func Top(f *ssa.Function) *ssa.Function {
	for f.Parent() != nil {
		f = f.Parent()
	}
	return f
}

// method is a method of an interface.
type method struct {
	of   *types.TypeName
	name string
}

// Implementations returns the methods of this package that a call of an interface
// method may run, by the names of their types: none for an interface of another package,
// which others implement, too, or for one that is a type parameter's.
func (p *Package) Implementations(c *ssa.CallCommon) []*ssa.Function {
	n := NamedOf(c.Value.Type())
	if !c.IsInvoke() || n == nil || n.Obj().Pkg() != p.Types {
		return nil
	}
	iface, ok := n.Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	key := method{n.Obj(), c.Method.Name()}
	if out, ok := p.impls[key]; ok {
		return out
	}
	var out []*ssa.Function
	for _, name := range p.Types.Scope().Names() {
		tn, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
		if !ok || tn.IsAlias() || types.IsInterface(tn.Type()) {
			continue
		}
		t, ok := tn.Type().(*types.Named)
		if !ok || t.TypeParams().Len() > 0 || !types.Implements(types.NewPointer(t), iface) {
			continue
		}
		m, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), true, p.Types, c.Method.Name())
		if f, ok := m.(*types.Func); ok {
			if fn := p.SSA.Prog.FuncValue(f); fn != nil && fn.Blocks != nil && !slices.Contains(out, fn) {
				out = append(out, fn)
			}
		}
	}
	p.impls[key] = out
	return out
}
