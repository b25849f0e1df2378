package driver

import (
	"fmt"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/fencelint/fence/analyzers/internal/engine"
	"github.com/fencelint/fence/analyzers/internal/suppress"
)

// results is what the analyzers said.
type results struct {
	checks     []*checker.Action // one per check and package
	directives map[*packages.Package]*suppress.Index
	failures   []Failure
	failed     map[failed]bool // a check on a package, also if something it needs failed
}

type failed struct {
	check string
	pkg   *packages.Package
}

// analyze runs the engine's summaries over all packages, then the checks over
// those that were named.
func analyze(env *engine.Env, o Options, l *loadedPackages) (*results, error) {
	all := slices.Concat(l.sound, l.further)
	r := &results{
		directives: make(map[*packages.Package]*suppress.Index),
		failed:     make(map[failed]bool),
	}
	for again := true; again; again = env.Join() {
		o.Progress(fmt.Sprintf("summarising %d packages", countPackages(all)))
		graph, err := runAnalyzers([]*analysis.Analyzer{env.Summary}, all)
		if err != nil {
			return nil, err
		}
		r.fail(graph)
	}
	o.Progress(fmt.Sprintf("checking %d packages", countPackages(l.sound)))
	selected := []*analysis.Analyzer{suppress.Analyzer}
	for _, c := range o.Checks.all() {
		selected = append(selected, c.New(env))
	}
	graph, err := runAnalyzers(selected, l.sound)
	if err != nil {
		return nil, err
	}
	r.fail(graph)
	for _, act := range graph.Roots {
		if act.Err != nil {
			r.failed[failed{act.Analyzer.Name, act.Package}] = true
			continue
		}
		if index, ok := act.Result.(*suppress.Index); ok {
			r.directives[act.Package] = index
			continue
		}
		r.checks = append(r.checks, act)
	}
	return r, nil
}

// runAnalyzers applies analyzers to pkgs and what they need to what pkgs need.
func runAnalyzers(list []*analysis.Analyzer, pkgs []*packages.Package) (*checker.Graph, error) {
	g := newGuard()
	guarded := make([]*analysis.Analyzer, len(list))
	for i, a := range list {
		guarded[i] = g.wrap(a)
	}
	graph, err := checker.Analyze(guarded, pkgs, nil)
	if err != nil {
		return nil, fmt.Errorf("preparing the checks: %w", err)
	}
	g.settle(graph)
	return graph, nil
}

// fail records the analyzers that failed by themselves; what failed because
// something it needs did is left out, and so is what failed in an earlier phase
// already.
func (r *results) fail(graph *checker.Graph) {
	for act := range graph.All() {
		if act.Err == nil || slices.ContainsFunc(act.Deps, func(dep *checker.Action) bool { return dep.Err != nil }) {
			continue
		}
		f := Failure{act.Analyzer.Name, act.Package.PkgPath, act.Err}
		if !slices.ContainsFunc(r.failures, func(g Failure) bool { return g.Check == f.Check && g.Package == f.Package }) {
			r.failures = append(r.failures, f)
		}
	}
}
