// Package engine owns the analyzers that all checks share: the package's SSA,
// its configuration and the summaries of functions.
package engine

import (
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// Env is one run's shared analyzers. Checks are made for an Env: analyzers of
// one Env see each other's facts.
type Env struct {
	Options Options
	// Summary exports what each function does to its callers, as facts. fence
	// check runs it alone over all packages first, then calls Join.
	Summary *analysis.Analyzer
}

// Options say how the checks run.
type Options struct {
	ConfigFile string // --config; empty: the nearest fence.yaml above each package
	Strict     bool   // --strict, or'ed with the configuration's
	Tests      bool   // analyse test files too
}

// New returns the analyzers of one run.
func New(o Options) *Env { return &Env{Options: o} }

// Join joins the methods of every interface over all their implementations in
// pkgs. The graph holds the results of Summary on each of them. Nothing is
// joined yet.
func (e *Env) Join(pkgs []*packages.Package, g *checker.Graph) {}
