// Package irtest answers one question for tests: what is the SSA, and what are
// the findings, of this text?
//
// A text is one Go file, or a txtar archive of files named by import path
// ("example.com/p/p.go"). Imports are found in the archive, then among the stubs
// in stubs/*.txtar (packages with the import path and the signatures of a real
// library and no bodies worth reading), then in the standard library.
//
// A text may call three functions that every package has without declaring them:
// probe(x) marks a value, yes() and no() mark places.
package irtest

import (
	"embed"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/txtar"

	"github.com/fencelint/fence/analyzers/internal/ir"
)

// Path is the import path of a text that is one Go file.
const Path = "example.com/p"

// marks is added to every package under test.
const marks = "func probe[T any](T) {}\nfunc yes() {}\nfunc no() {}\n"

//go:embed stubs/*.txtar
var stubFiles embed.FS

// world is what all tests of a process share: positions, the standard library and
// the stubs are read once.
var world = struct {
	sync.Mutex
	fset  *token.FileSet
	std   types.Importer
	files map[string][]txtar.File // of the stubs, by import path
	stubs map[string]*packages.Package
}{}

func open() {
	if world.fset != nil {
		return
	}
	world.fset = token.NewFileSet()
	world.std = importer.ForCompiler(world.fset, "gc", nil)
	world.files = map[string][]txtar.File{}
	world.stubs = map[string]*packages.Package{}
	entries, err := stubFiles.ReadDir("stubs")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		data, err := stubFiles.ReadFile("stubs/" + e.Name())
		if err != nil {
			panic(err)
		}
		for _, f := range txtar.Parse(data).Files {
			world.files[path.Dir(f.Name)] = append(world.files[path.Dir(f.Name)], f)
		}
	}
}

// loader type-checks the packages of one text.
type loader struct {
	dir   string // where the files are said to lie
	files map[string][]txtar.File
	done  map[string]*packages.Package
	order []*packages.Package
}

// Load type-checks the packages of a text and returns them in the order of
// their imports, the last one needing the others. Files are said to lie in dir.
func Load(tb testing.TB, dir, text string) []*packages.Package {
	tb.Helper()
	world.Lock()
	defer world.Unlock()
	open()
	l := &loader{dir: dir, files: map[string][]txtar.File{}, done: map[string]*packages.Package{}}
	a := txtar.Parse([]byte(text))
	if len(a.Files) == 0 {
		a.Files = []txtar.File{{Name: Path + "/p.go", Data: []byte(text)}}
	}
	var paths []string
	for _, f := range a.Files {
		p := path.Dir(f.Name)
		if l.files[p] == nil {
			paths = append(paths, p)
		}
		l.files[p] = append(l.files[p], f)
	}
	for _, p := range paths {
		if _, err := l.load(p); err != nil {
			tb.Fatal(err)
		}
	}
	return l.order
}

// Import makes loader a types.Importer.
func (l *loader) Import(p string) (*types.Package, error) {
	switch {
	case l.files[p] != nil:
		pkg, err := l.load(p)
		if err != nil {
			return nil, err
		}
		return pkg.Types, nil
	case world.files[p] != nil:
		if pkg := world.stubs[p]; pkg != nil {
			return pkg.Types, nil
		}
		pkg, err := l.check(p, world.files[p], "")
		if err != nil {
			return nil, fmt.Errorf("stub of %s: %w", p, err)
		}
		pkg.Module = &packages.Module{Path: p, Version: "v1.0.0"}
		world.stubs[p] = pkg
		return pkg.Types, nil
	}
	return world.std.Import(p)
}

func (l *loader) load(p string) (*packages.Package, error) {
	if pkg, ok := l.done[p]; ok {
		return pkg, nil
	}
	pkg, err := l.check(p, l.files[p], marks)
	if err != nil {
		return nil, err
	}
	pkg.Module = &packages.Module{Path: "example.com", Main: true}
	for _, imp := range pkg.Types.Imports() {
		if dep := l.done[imp.Path()]; dep != nil {
			pkg.Imports[imp.Path()] = dep
		}
	}
	l.done[p] = pkg
	l.order = append(l.order, pkg)
	return pkg, nil
}

func (l *loader) check(p string, files []txtar.File, extra string) (*packages.Package, error) {
	pkg := &packages.Package{ID: p, PkgPath: p, Fset: world.fset, Imports: map[string]*packages.Package{},
		TypesSizes: types.SizesFor("gc", "amd64"), TypesInfo: NewInfo()}
	add := func(name string, src any) error {
		f, err := parser.ParseFile(world.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg.Syntax = append(pkg.Syntax, f)
		return nil
	}
	for _, f := range files {
		if err := add(filepath.Join(l.dir, filepath.FromSlash(f.Name)), f.Data); err != nil {
			return nil, err
		}
	}
	pkg.Name = pkg.Syntax[0].Name.Name
	if extra != "" {
		if err := add(filepath.Join(l.dir, filepath.FromSlash(p), "marks.go"), "package "+pkg.Name+"\n"+extra); err != nil {
			return nil, err
		}
	}
	var err error
	conf := types.Config{Importer: l, Sizes: pkg.TypesSizes}
	pkg.Types, err = conf.Check(p, world.fset, pkg.Syntax, pkg.TypesInfo)
	return pkg, err
}

// NewInfo returns a types.Info that records everything.
func NewInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes: map[ast.Node]*types.Scope{}, Instances: map[*ast.Ident]types.Instance{},
		FileVersions: map[*ast.File]string{},
	}
}

// SSA returns the SSA of the last package of a text.
func SSA(tb testing.TB, text string) *ir.Package {
	tb.Helper()
	pkgs := Load(tb, ".", text)
	return Build(pkgs[len(pkgs)-1])
}

// Build returns the SSA of a loaded package.
func Build(p *packages.Package) *ir.Package {
	return ir.Build(p.Fset, p.Types, p.Syntax, p.TypesInfo)
}

// Calls returns the calls of a function or method of that name, in the order of
// the source.
func Calls(p *ir.Package, name string) []ssa.CallInstruction {
	var out []ssa.CallInstruction
	for _, fn := range p.Funcs {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				c, ok := in.(ssa.CallInstruction)
				if !ok {
					continue
				}
				if obj := ir.Object(c.Common()); obj != nil && obj.Name() == name {
					out = append(out, c)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b ssa.CallInstruction) int { return int(a.Pos() - b.Pos()) })
	return out
}

// Probes returns the values that the text marks with probe, in order.
func Probes(p *ir.Package) []ssa.Value {
	var out []ssa.Value
	for _, c := range Calls(p, "probe") {
		out = append(out, c.Common().Args[0])
	}
	return out
}

// Probe returns the one value that the text marks with probe.
func Probe(tb testing.TB, p *ir.Package) ssa.Value {
	tb.Helper()
	vs := Probes(p)
	if len(vs) != 1 {
		tb.Fatalf("the text has %d probes, want one", len(vs))
	}
	return vs[0]
}

// Func returns the function or method declared with that name.
func Func(tb testing.TB, p *ir.Package, name string) *ssa.Function {
	tb.Helper()
	for _, fn := range p.Funcs {
		if fn.Parent() == nil && fn.Name() == name {
			return fn
		}
	}
	tb.Fatalf("no function %s", name)
	return nil
}

// Cases returns the Go files of a txtar file as tests: name and source, with the
// package clause and, where body only calls known packages, nothing else added.
func Cases(tb testing.TB, file string) []Case {
	tb.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	var out []Case
	for _, f := range a.Files {
		name, want, _ := strings.Cut(f.Name, ": ")
		out = append(out, Case{strings.TrimSpace(name), strings.TrimSpace(want), string(f.Data)})
	}
	return out
}

// Case is one test in a txtar file: "-- name: want --" and a text.
type Case struct{ Name, Want, Text string }
