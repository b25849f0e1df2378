// Package driver runs fence's checks over the packages of a module: it is
// fence check without its flags.
//
// # Plan
//
// A run goes through six steps, each in a file of its own:
//
//  1. Load (load.go): the named packages from source, everything they import
//     from the compiler's export data. One go list, no cache of our own: nothing
//     can be stale. Packages that do not compile are set aside with their
//     errors, and so is what imports them; the rest is checked.
//  2. Configure (configure.go): every fence.yaml that counts for a loaded
//     package is read before any check runs. An error in one ends the run,
//     since a check that misreads what is protected would be silent.
//     Where one asks for packages of other modules, everything is loaded once
//     more with those in source (further.go).
//  3. Summarise (analyze.go): the engine's summary analyzer alone, over all
//     packages, dependencies first. It says what each function does to its
//     callers.
//  4. Join (analyze.go): with every summary at hand, the engine joins the
//     methods of each interface over all implementations. Only a driver that
//     holds all packages in one process can do this; what it adds is the
//     difference between fence check and go vet -vettool.
//  5. Check (analyze.go): the selected checks over all packages. An analyzer
//     that fails or panics on a package loses that package's findings of that
//     check and nothing else (guard.go).
//  6. Collect (collect.go): diagnostics become findings with places relative to
//     the root (place.go) and an identity that survives edits (statement.go).
//     Generated files and //lint:ignore silence, configuration sets severities,
//     directives that silence nothing are reported (directives.go), and
//     everything is sorted.
//
// # Determinism
//
// Steps 3 and 5 run packages in parallel. Their results are read in the order
// of the loaded packages and the selected checks, and sorted at the end, so the
// findings are the same with any number of cores.
//
// # Errors
//
// [Run] returns a [*UsageError] for what the caller got wrong, a [*LoadError]
// if nothing could be loaded, and otherwise a [Result], which also lists what
// could not be checked.
package driver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/tools/go/packages"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/analyzers/internal/engine"
	"github.com/fencelint/fence/internal/finding"
)

// Options say what to check and how.
type Options struct {
	Dir        string            // where patterns count from; empty: the current directory
	Patterns   []string          // as for go build; empty: ./...
	Tags       string            // build tags, separated by commas
	Tests      bool              // check test files too
	ConfigFile string            // instead of the nearest fence.yaml; relative to Dir
	Strict     bool              // unproven counts as a finding
	Checks     Selection         // see [Select]
	Env        []string          // of the go command; nil: this process's
	Progress   func(step string) // told what begins; nil: nobody
}

// Result is what a run found.
type Result struct {
	Root       string            // the directory that the findings' files count from
	ModCache   string            // the directory of the modules that were downloaded
	Checks     []analyzers.Check // that were on
	Findings   []finding.Finding // sorted
	Packages   int               // that were checked
	Broken     []Broken          // packages that do not compile
	NotChecked []NotChecked      // packages that import a broken one
	Failures   []Failure         // analyzers that failed
	Bounds     []Bound           // where the engine stopped looking
	Writes     []Write           // to what is protected, sorted by place
}

// Broken is a package that does not load, parse or type-check.
type Broken struct {
	Package string
	Errors  []CompileError // in file order, at least one
}

// CompileError is one reason why a package does not compile.
type CompileError struct {
	Place   finding.Place // zero if the go command gave none
	Message string
}

// NotChecked is a package that was named and compiles itself, but imports
// something that does not.
type NotChecked struct {
	Package string
	Import  string // the broken package, imported directly or not
}

// Failure is an analyzer that could not finish with a package: a bug of ours.
type Failure struct {
	Check   string
	Package string
	Err     error
}

// Run checks the packages that o names.
func Run(ctx context.Context, o Options) (*Result, error) {
	dir, err := workingDir(o.Dir)
	if err != nil {
		return nil, err
	}
	o.Dir = dir
	if len(o.Patterns) == 0 {
		o.Patterns = []string{"./..."}
	}
	if o.ConfigFile != "" && !filepath.IsAbs(o.ConfigFile) {
		o.ConfigFile = filepath.Join(dir, o.ConfigFile)
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}

	o.Progress("loading packages")
	loaded, err := load(ctx, o)
	if err != nil {
		return nil, err
	}
	configs, err := configure(loaded.sound, o.ConfigFile)
	if err != nil {
		return nil, err
	}
	if more := loaded.wanted(configs.analyze()); len(more) > 0 && !namesFiles(o.Patterns) {
		o.Progress(fmt.Sprintf("loading %d packages to analyze", len(more)))
		if loaded, err = loaded.withSource(ctx, o, more); err != nil {
			return nil, err
		}
		if configs, err = configure(loaded.sound, o.ConfigFile); err != nil {
			return nil, err
		}
	}
	o.Checks = o.Checks.narrow(configs)
	env := engine.New(engine.Options{ConfigFile: o.ConfigFile, Strict: o.Strict, Tests: o.Tests, Analyze: configs.analyze()})
	run, err := analyze(env, o, loaded)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o.Progress("collecting findings")
	return &Result{
		Root:       loaded.at.root,
		ModCache:   loaded.at.modCache,
		Checks:     o.Checks.all(),
		Findings:   collect(o, loaded, configs, run),
		Packages:   countPackages(loaded.sound),
		Broken:     loaded.broken,
		NotChecked: loaded.notChecked,
		Failures:   run.failures,
		Bounds:     bounds(env.Hits),
		Writes:     writes(env, loaded),
	}, nil
}

// workingDir makes dir absolute and makes sure that it is there: the go command
// only says that it could not be started.
func workingDir(dir string) (string, error) {
	if dir == "" {
		dir = "."
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", &UsageError{Problem: fmt.Sprintf("directory %s: %v", dir, err)}
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", &UsageError{Problem: fmt.Sprintf("directory %s cannot be opened", dir), Fix: "name an existing directory with -C"}
	}
	if !info.IsDir() {
		return "", &UsageError{Problem: dir + " is not a directory", Fix: "name the directory of a module with -C"}
	}
	return abs, nil
}

// countPackages counts packages as people do: one with its test variant is one.
func countPackages(pkgs []*packages.Package) int {
	paths := make(map[string]bool)
	for _, p := range pkgs {
		paths[p.PkgPath] = true
	}
	return len(paths)
}
