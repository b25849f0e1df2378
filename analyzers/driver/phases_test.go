package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/analysis/lint"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/analyzers/internal/engine"
)

// loadChain loads three packages, each of which imports the one before.
func loadChain(t *testing.T) []*packages.Package {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n",
		"a/a.go": "package a\n\nfunc A() {}\n",
		"b/b.go": "package b\n\nimport \"example.com/m/a\"\n\nfunc B() { a.A() }\n",
		"c/c.go": "package c\n\nimport \"example.com/m/b\"\n\nfunc C() { b.B() }\n",
	}
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=")
	l, err := load(context.Background(), Options{Dir: dir, Patterns: []string{"./..."}, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	return l.sound
}

// depth is a fact: how many packages of the module a package imports, deep.
type depth struct{ N int }

func (*depth) AFact() {}

// depths is a summary analyzer that fails on the packages in broken.
func depths(broken ...string) *analysis.Analyzer {
	a := &analysis.Analyzer{
		Name:       "summary",
		Doc:        "counts",
		FactTypes:  []analysis.Fact{new(depth)},
		ResultType: reflect.TypeFor[int](),
	}
	a.Run = func(pass *analysis.Pass) (any, error) {
		if pass.Analyzer != a {
			return nil, errors.New("the pass names another analyzer")
		}
		if slices.Contains(broken, pass.Pkg.Name()) {
			panic("no summary")
		}
		d := 0
		for _, imp := range pass.Pkg.Imports() {
			var f depth
			if pass.ImportPackageFact(imp, &f) {
				d = max(d, f.N+1)
			}
		}
		if len(pass.Files) > 0 && pass.Module.Version == "" {
			pass.ExportPackageFact(&depth{d})
		}
		return d, nil
	}
	return a
}

// depthCheck says what the summary's result is, at the package clause.
var depthCheck = analyzers.Check{
	Name: "depth",
	Doc:  &lint.RawDocumentation{},
	New: func(env *engine.Env) *analysis.Analyzer {
		return &analysis.Analyzer{
			Name: "depth", Doc: "depth", Requires: []*analysis.Analyzer{env.Summary},
			Run: func(pass *analysis.Pass) (any, error) {
				d := pass.ResultOf[env.Summary].(int)
				pass.Reportf(pass.Files[0].Package, "%s is %d deep", pass.Pkg.Name(), d)
				return nil, nil
			},
		}
	},
}

func silent(string) {}

func messages(r *results) []string {
	var all []string
	for _, act := range r.checks {
		for _, d := range act.Diagnostics {
			all = append(all, d.Message)
		}
	}
	return all
}

func TestSummariesReachChecks(t *testing.T) {
	pkgs := loadChain(t)
	env := &engine.Env{Summary: depths()}
	var steps []string
	o := Options{Checks: Selection{On: []analyzers.Check{depthCheck}}, Progress: func(s string) { steps = append(steps, s) }}
	r, err := analyze(env, o, &loadedPackages{sound: pkgs})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := messages(r), []string{"a is 0 deep", "b is 1 deep", "c is 2 deep"}; !slices.Equal(got, want) {
		t.Errorf("diagnostics %q, want %q", got, want)
	}
	if got, want := steps, []string{"summarising 3 packages", "checking 3 packages"}; !slices.Equal(got, want) {
		t.Errorf("steps %q, want %q", got, want)
	}
	if len(r.failures) > 0 {
		t.Errorf("failures: %v", r.failures)
	}
}

// A summary that fails takes along what needs it for the same package, but not
// the packages that import that one. It is reported once although both phases
// run it.
func TestFailedSummary(t *testing.T) {
	pkgs := loadChain(t)
	env := &engine.Env{Summary: depths("b")}
	r, err := analyze(env, Options{Checks: Selection{On: []analyzers.Check{depthCheck}}, Progress: silent}, &loadedPackages{sound: pkgs})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := messages(r), []string{"a is 0 deep", "c is 0 deep"}; !slices.Equal(got, want) {
		t.Errorf("diagnostics %q, want %q", got, want)
	}
	if len(r.failures) != 1 || !strings.HasPrefix(fmt.Sprint(r.failures[0]), "{summary example.com/m/b panic: no summary") {
		t.Errorf("failures: %v", r.failures)
	}
	for _, p := range pkgs {
		if want := p.Name == "b"; r.failed[failed{"depth", p}] != want {
			t.Errorf("depth failed on %s: %v, want %v", p.Name, !want, want)
		}
	}
}
