// Package engine owns the analyzers that all checks share: a package's SSA, its
// configuration, the summaries of its functions and the verdicts on it.
//
// Checks require Verdicts and print those that carry their name. Verdicts
// require the other three. A fact can be read only by the analyzer that exported
// it, so one Env has exactly one of each.
package engine

import (
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/resource"
	"github.com/fencelint/fence/analyzers/internal/summary"
	"github.com/fencelint/fence/analyzers/internal/verdict"
	"github.com/fencelint/fence/internal/config"
)

// Env is one run's shared analyzers. Checks are made for an Env: analyzers of
// one Env see each other's facts. It is safe for concurrent use by the passes of
// one run.
type Env struct {
	Options Options
	// Summary exports what each function does to its callers, as facts. fence
	// check runs it alone over all packages first, then calls Join.
	Summary *analysis.Analyzer
	// Verdicts computes everything that is to be said about a package.
	Verdicts *analysis.Analyzer
	// Hits counts the bounds that tracing hit.
	Hits *origin.Hits

	ssa    *analysis.Analyzer
	config *analysis.Analyzer

	// modular: the driver shows one package at a time and carries the facts, so
	// nothing is kept from one pass for another.
	modular bool

	mu        sync.Mutex
	providers map[*types.Package]*ir.Provider
	summaries map[*types.Package]*summary.Result
	policies  map[string]*resource.Policy
	funcs     map[*types.Func]*summary.Func
	joined    map[*types.Func]*summary.Func
	impls     map[string][]implementation
	writes    map[*types.Package][]verdict.Write
	all       []summary.Sibling // of all packages; nil: not collected yet
}

// Options say how the checks run.
type Options struct {
	ConfigFile string // --config; empty: the nearest fence.yaml above each package
	Strict     bool   // --strict, or'ed with the configuration's
	Tests      bool   // analyse test files too
	// Analyze names packages of other modules that are in this run from source:
	// they are summed up, but no verdict is made on them.
	Analyze []config.Name
}

// New returns the analyzers of one run.
func New(o Options) *Env {
	e := &Env{
		Options: o, Hits: &origin.Hits{},
		providers: map[*types.Package]*ir.Provider{}, summaries: map[*types.Package]*summary.Result{},
		policies: map[string]*resource.Policy{}, writes: map[*types.Package][]verdict.Write{},
		funcs: map[*types.Func]*summary.Func{}, joined: map[*types.Func]*summary.Func{},
	}
	e.ssa = &analysis.Analyzer{
		Name: "fencessa", Doc: "gives this package's SSA at first use", Run: e.runSSA,
		ResultType: typeOf[*ir.Provider](),
	}
	e.config = &analysis.Analyzer{
		Name: "fenceconfig", Doc: "reads the configuration that counts for this package", Run: e.runConfig,
		ResultType: typeOf[*resource.Policy](),
	}
	e.Summary = &analysis.Analyzer{
		Name: "fencesummary", Doc: "sums up what functions do to their callers", Run: e.runSummary,
		Requires: []*analysis.Analyzer{e.ssa}, ResultType: typeOf[*summary.Result](),
		FactTypes: []analysis.Fact{new(summary.Func), new(summary.Stored)},
	}
	e.Verdicts = &analysis.Analyzer{
		Name: "fenceverdict", Doc: "decides what is true of each write and each comparison of time", Run: e.runVerdicts,
		Requires:   []*analysis.Analyzer{e.ssa, e.config, e.Summary},
		ResultType: typeOf[*verdict.Result](),
	}
	return e
}

// Modular returns the Env of drivers that analyse packages one by one and carry
// facts between them: go vet, golangci-lint, nogo. All checks of a process share
// it, since no two analyzers may register one type of fact.
var Modular = sync.OnceValue(func() *Env {
	e := New(Options{})
	e.modular = true
	return e
})

func (e *Env) runSSA(pass *analysis.Pass) (any, error) {
	if e.modular {
		return ir.NewProvider(pass), nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if p, ok := e.providers[pass.Pkg]; ok {
		return p, nil
	}
	p := ir.NewProvider(pass)
	e.providers[pass.Pkg] = p
	return p, nil
}

// foreign tells whether pass is for a package of another module: what fence
// check cannot see, no driver reports.
func foreign(pass *analysis.Pass) bool {
	return len(pass.Files) == 0 || pass.Module != nil && pass.Module.Version != ""
}

// sumsUp tells whether pass's package is summed up: also one of another module
// that fence.yaml wants analysed, where it is here from source.
func (e *Env) sumsUp(pass *analysis.Pass) bool {
	return !foreign(pass) || len(pass.Files) > 0 && slices.ContainsFunc(e.Options.Analyze, func(n config.Name) bool {
		return n.MatchesPackage(pass.Pkg.Path())
	})
}

func (e *Env) runSummary(pass *analysis.Pass) (any, error) {
	if !e.sumsUp(pass) {
		return &summary.Result{}, nil
	}
	e.mu.Lock()
	r := e.summaries[pass.Pkg]
	e.mu.Unlock()
	if r != nil { // second phase: answered from the first
		return r, nil
	}
	known := e.lookup(pass)
	r = summary.Run(pass, pass.ResultOf[e.ssa].(*ir.Provider), known, e.Hits)
	r.Lookup = known // a fact is shown only to the analyzer that exported it
	if e.modular {
		return r, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.summaries[pass.Pkg] = r
	for f, s := range r.Funcs {
		e.funcs[f] = s
	}
	return r, nil
}

func (e *Env) runVerdicts(pass *analysis.Pass) (any, error) {
	if foreign(pass) {
		return &verdict.Result{}, nil
	}
	policy := pass.ResultOf[e.config].(*resource.Policy).Declare(summary.Directives(pass))
	sum := pass.ResultOf[e.Summary].(*summary.Result)
	r := verdict.Of(verdict.Input{
		Pass: pass, SSA: pass.ResultOf[e.ssa].(*ir.Provider), Summary: sum,
		Policy: policy, Lookup: sum.Lookup, Hits: e.Hits, Siblings: e.siblings(sum), Own: sum.Siblings,
		Strict: e.Options.Strict || policy.Config.Strict,
	})
	if !e.modular {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.writes[pass.Pkg] = r.Writes
	}
	return r, nil
}

// Writes returns the writes of a package to what is protected, once it was judged.
func (e *Env) Writes(pkg *types.Package) []verdict.Write {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.writes[pkg]
}

// siblings returns the statements that treat a column as a fence: those of the
// package, and in a run that sees all packages those of the module.
func (e *Env) siblings(own *summary.Result) []summary.Sibling {
	if e.modular {
		return own.Siblings
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.all == nil {
		e.all = []summary.Sibling{}
		for _, r := range e.summaries {
			e.all = append(e.all, r.Siblings...)
		}
		summary.SortSiblings(e.all)
	}
	return e.all
}

// lookup answers from the run's own table where all packages are in one
// process, else from the driver's facts.
func (e *Env) lookup(pass *analysis.Pass) summary.Lookup { return &lookup{e, pass} }

type lookup struct {
	env  *Env
	pass *analysis.Pass
}

// Func returns the summary of f, or nil.
func (l *lookup) Func(f *types.Func) *summary.Func {
	f = f.Origin()
	l.env.mu.Lock()
	s, ok := l.env.funcs[f]
	if !ok {
		s, ok = l.env.joined[f]
	}
	l.env.mu.Unlock()
	if ok {
		return s
	}
	if l.env.isJoined() {
		if isInterfaceMethod(f) {
			return l.env.join(f)
		}
		return nil // all packages that can say something are in the table
	}
	fact := new(summary.Func)
	if l.pass.ImportObjectFact(f, fact) {
		return fact
	}
	return nil
}

// Stored returns the column that field v of another package is scanned from, or nil.
func (l *lookup) Stored(v *types.Var) *summary.Stored {
	fact := new(summary.Stored)
	if v.Pkg() != nil && v.Pkg() != l.pass.Pkg && l.pass.ImportObjectFact(v.Origin(), fact) {
		return fact
	}
	return nil
}

// dirOf returns the package's directory. The first file of a package that uses
// cgo is one that cgo made, in a cache: its lines point back to the source.
func dirOf(pass *analysis.Pass) string {
	for _, f := range pass.Files {
		for _, d := range f.Decls {
			name := pass.Fset.Position(d.Pos()).Filename
			if strings.HasSuffix(name, ".go") && filepath.Base(name) != "_cgo_gotypes.go" {
				return filepath.Dir(name)
			}
		}
	}
	return filepath.Dir(pass.Fset.Position(pass.Files[0].Package).Filename)
}
