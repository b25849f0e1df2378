package main

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"go/types"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/analyzers/internal/engine"
	"github.com/fencelint/fence/analyzers/internal/suppress"
)

// errNoSSA is for a package with type errors of which no SSA can be built.
var errNoSSA = errors.New("the SSA builder panics")

// read runs everything that fence check runs over c and returns how many
// findings there are.
func read(c *checked, fs *facts) (findings int, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = failure(cause, string(debug.Stack()), c)
		}
	}()
	open(c.pkg)
	env := engine.New(engine.Options{Strict: true})
	r := &runner{c: c, facts: fs, results: map[*analysis.Analyzer]any{}}
	if err := r.run(env.Summary); err != nil {
		return 0, err
	}
	env.Join()
	selected := []*analysis.Analyzer{suppress.Analyzer}
	for _, check := range analyzers.All() {
		selected = append(selected, check.New(env))
	}
	for _, a := range selected {
		if err := r.run(a); err != nil {
			return 0, err
		}
	}
	return r.findings, nil
}

// open makes the engine read a package whole: it does so where a store is
// imported.
func open(pkg *types.Package) {
	const store = "database/sql"
	imports := pkg.Imports()
	if pkg.Path() != store && !slices.ContainsFunc(imports, func(p *types.Package) bool { return p.Path() == store }) {
		pkg.SetImports(append(slices.Clip(imports), empty(store)))
	}
}

// failure says what a panic was.
func failure(cause any, stack string, c *checked) error {
	if !c.sound && inBuilder(stack) {
		why := "in its imports"
		if len(c.errs) > 0 {
			why, _, _ = strings.Cut(c.errs[0].Msg, "\n")
		}
		return fmt.Errorf("%w: %.200s (type errors: %.200s)", errNoSSA, fmt.Sprint(cause), why)
	}
	return fmt.Errorf("panic: %v (without type errors: %t)\n%s", cause, c.sound, stack)
}

// inBuilder tells whether a panic with that stack came from the SSA builder
// itself, not from code of ours that it or we called.
func inBuilder(stack string) bool {
	const (
		builder = "golang.org/x/tools/go/ssa."
		caller  = "github.com/fencelint/fence/analyzers/internal/ir.Build("
	)
	if _, after, ok := strings.Cut(stack, "\npanic("); ok {
		stack = after
	}
	inside := false
	for line := range strings.Lines(stack) {
		switch {
		case strings.HasPrefix(line, builder):
			inside = true
		case strings.HasPrefix(line, "github.com/fencelint/fence/"):
			return inside && strings.HasPrefix(line, caller)
		}
	}
	return false
}

// runner applies analyzers to one package, each once.
type runner struct {
	c        *checked
	facts    *facts
	results  map[*analysis.Analyzer]any
	findings int
}

// run applies a after what it requires.
func (r *runner) run(a *analysis.Analyzer) error {
	if _, ok := r.results[a]; ok {
		return nil
	}
	required := map[*analysis.Analyzer]any{}
	for _, b := range a.Requires {
		if err := r.run(b); err != nil {
			return err
		}
		required[b] = r.results[b]
	}
	result, err := a.Run(&analysis.Pass{
		Analyzer: a, Fset: r.c.fset, Files: r.c.files, Pkg: r.c.pkg, TypesInfo: r.c.info, TypesSizes: r.c.sizes,
		TypeErrors: r.c.errs, ResultOf: required, ReadFile: os.ReadFile,
		Report:            func(analysis.Diagnostic) { r.findings++ },
		ImportObjectFact:  func(o types.Object, f analysis.Fact) bool { return r.facts.get(o, f) },
		ExportObjectFact:  func(o types.Object, f analysis.Fact) { r.facts.put(o, f) },
		ImportPackageFact: func(p *types.Package, f analysis.Fact) bool { return r.facts.get(p, f) },
		ExportPackageFact: func(f analysis.Fact) { r.facts.put(r.c.pkg, f) },
		AllObjectFacts:    func() []analysis.ObjectFact { return nil },
		AllPackageFacts:   func() []analysis.PackageFact { return nil },
	})
	if err != nil {
		return fmt.Errorf("%s: %w", a.Name, err)
	}
	r.results[a] = result
	return nil
}

// facts are those of all packages.
type facts struct {
	mu  sync.Mutex
	all map[factKey][]byte
}

type factKey struct {
	about any // a types.Object or *types.Package
	kind  reflect.Type
}

// put keeps a fact as a driver does that runs each package in its own process.
func (s *facts) put(about any, f analysis.Fact) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(f); err != nil {
		panic(fmt.Sprintf("a fact cannot be encoded: %v", err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[factKey][]byte{}
	}
	s.all[factKey{about, reflect.TypeOf(f)}] = b.Bytes()
}

func (s *facts) get(about any, f analysis.Fact) bool {
	s.mu.Lock()
	b, ok := s.all[factKey{about, reflect.TypeOf(f)}]
	s.mu.Unlock()
	if !ok {
		return false
	}
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(f); err != nil {
		panic(fmt.Sprintf("a fact cannot be decoded: %v", err))
	}
	return true
}
