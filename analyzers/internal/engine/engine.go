// Package engine owns the analyzers that all checks share: a package's SSA, its
// configuration, the summaries of its functions and the verdicts on it.
//
// Checks require Verdicts and print those that carry their name. Verdicts
// require the other three. A fact can be read only by the analyzer that exported
// it, so one Env has exactly one of each.
package engine

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/origin"
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

	// Config finds the configuration that counts for a package. Its flags give it
	// inline.
	Config *analysis.Analyzer

	ssa   *analysis.Analyzer
	flags flags

	// modular: the driver shows one package at a time and carries the facts, so
	// nothing is kept from one pass for another.
	modular bool

	mu        sync.Mutex
	providers map[*types.Package]*ir.Provider
	summaries map[*types.Package]*summary.Result
	settings  map[string]*setting
	funcs     map[*types.Func]*summary.Func
	joined    map[*types.Func]*summary.Func
	alone     map[*types.Func]*summary.Func // before anything was joined
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
	// Policy is the configuration of all packages; nil: ConfigFile or the nearest
	// fence.yaml.
	Policy *config.Config
	// OptIn names checks that speak only where the configuration gives them a
	// level. fence check decides that for itself, modular drivers cannot.
	OptIn []string
	// NoRelated leaves out the further places of a finding: golangci-lint makes a
	// finding of each.
	NoRelated bool
}

// New returns the analyzers of one run.
func New(o Options) *Env {
	e := &Env{
		Options: o, Hits: &origin.Hits{},
		providers: map[*types.Package]*ir.Provider{}, summaries: map[*types.Package]*summary.Result{},
		settings: map[string]*setting{}, writes: map[*types.Package][]verdict.Write{},
		funcs: map[*types.Func]*summary.Func{}, joined: map[*types.Func]*summary.Func{},
	}
	e.ssa = &analysis.Analyzer{
		Name: "fencessa", Doc: "gives this package's SSA at first use", Run: e.runSSA,
		ResultType: typeOf[*ir.Provider](),
	}
	e.Config = &analysis.Analyzer{
		Name: "fenceconfig", Doc: "reads the configuration that counts for this package", Run: e.runConfig,
		ResultType: typeOf[*setting](),
	}
	e.flags.add(&e.Config.Flags)
	e.Summary = &analysis.Analyzer{
		Name: "fencesummary", Doc: "sums up what functions do to their callers", Run: e.runSummary,
		Requires: []*analysis.Analyzer{e.ssa}, ResultType: typeOf[*summary.Result](),
		FactTypes: []analysis.Fact{new(summary.Func), new(summary.Stored)},
	}
	e.Verdicts = &analysis.Analyzer{
		Name: "fenceverdict", Doc: "decides what is true of each write and each comparison of time", Run: e.runVerdicts,
		Requires:   []*analysis.Analyzer{e.ssa, e.Config, e.Summary},
		ResultType: typeOf[*judgement](),
	}
	return e
}

// NewModular returns the analyzers for drivers that analyse packages one by one
// and carry facts between them: go vet, golangci-lint, nogo.
func NewModular(o Options) *Env {
	e := New(o)
	e.modular = true
	return e
}

// Modular returns the Env of the analyzers that check packages export for such
// drivers. All checks of a process share it, since no two analyzers may register
// one type of fact.
var Modular = sync.OnceValue(func() *Env { return NewModular(Options{}) })

// inlinePolicy returns the configuration that is not in a file, or nil.
func (e *Env) inlinePolicy() *config.Config {
	if e.flags.policy != nil {
		return e.flags.policy
	}
	return e.Options.Policy
}

// shown returns pass without its test files, unless they are to be analysed: go
// vet and golangci-lint hand over a package together with its tests.
func (e *Env) shown(pass *analysis.Pass) *analysis.Pass {
	isTest := func(pos token.Pos) bool {
		return strings.HasSuffix(pass.Fset.PositionFor(pos, false).Filename, "_test.go")
	}
	inTest := func(f *ast.File) bool { return isTest(f.Package) }
	if e.Options.Tests || !slices.ContainsFunc(pass.Files, inTest) {
		return pass
	}
	p, info := *pass, *pass.TypesInfo
	p.Files = slices.DeleteFunc(slices.Clone(pass.Files), inTest)
	// SSA is made of the files and initialises what stands here.
	info.InitOrder = slices.DeleteFunc(slices.Clone(info.InitOrder), func(i *types.Initializer) bool { return isTest(i.Lhs[0].Pos()) })
	p.TypesInfo = &info
	return &p
}

func (e *Env) runSSA(pass *analysis.Pass) (any, error) {
	pass = e.shown(pass)
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

// sumsUp tells whether pass's package is summed up: also one of another module
// that fence.yaml wants analysed, where it is here from source.
func (e *Env) sumsUp(pass *analysis.Pass) bool {
	return e.counts(pass) || len(pass.Files) > 0 && slices.ContainsFunc(e.Options.Analyze, func(n config.Name) bool {
		return n.MatchesPackage(pass.Pkg.Path())
	})
}

func (e *Env) runSummary(pass *analysis.Pass) (any, error) {
	pass = e.shown(pass)
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
	pass = e.shown(pass)
	if !e.counts(pass) {
		return &judgement{}, nil
	}
	set := pass.ResultOf[e.Config].(*setting)
	if set.err != nil {
		return failed(set.err), nil
	}
	policy := set.policy.Declare(summary.Directives(pass))
	sum := pass.ResultOf[e.Summary].(*summary.Result)
	in := verdict.Input{
		Pass: pass, SSA: pass.ResultOf[e.ssa].(*ir.Provider), Summary: sum,
		Policy: policy, Lookup: sum.Lookup, Hits: e.Hits, Siblings: e.siblings(sum), Own: sum.Siblings,
		Strict: e.Options.Strict || policy.Config.Strict,
	}
	r := verdict.Of(in)
	verdicts := r.Verdicts
	if len(verdicts) > 0 && e.isJoined() {
		in.Summary, in.Siblings, in.Hits = &summary.Result{}, in.Own, &origin.Hits{}
		in.Lookup = &lookup{env: e, pass: sum.Lookup.(*lookup).pass, alone: true}
		verdicts = mark(verdicts, verdict.Of(in).Verdicts)
	}
	if err := set.failure(); err != nil {
		return failed(err), nil
	}
	if e.modular {
		verdicts = slices.DeleteFunc(verdicts, func(v verdict.Verdict) bool {
			level := policy.Config.Checks[v.Check]
			return level == config.Off || level == "" && slices.Contains(e.Options.OptIn, v.Check)
		})
		return &judgement{verdicts: verdicts}, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.writes[pass.Pkg] = r.Writes
	return &judgement{verdicts: verdicts}, nil
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
func (e *Env) lookup(pass *analysis.Pass) summary.Lookup { return &lookup{env: e, pass: pass} }

type lookup struct {
	env   *Env
	pass  *analysis.Pass
	alone bool // without what was joined over the implementations of interfaces
}

// Func returns the summary of f, or nil.
func (l *lookup) Func(f *types.Func) *summary.Func {
	f = f.Origin()
	if l.alone {
		return l.env.alone[f] // complete since Join, and only read
	}
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
