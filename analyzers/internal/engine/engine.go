// Package engine owns the analyzers that all checks share: the package's SSA,
// its configuration and the summaries of functions.
package engine

import (
	"golang.org/x/tools/go/analysis"
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
