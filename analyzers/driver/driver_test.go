package driver_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/txtar"
	"honnef.co/go/tools/analysis/lint"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/analyzers/driver"
	"github.com/fencelint/fence/analyzers/internal/engine"
	"github.com/fencelint/fence/internal/finding"
)

// hazard reports every call of a function named hazard. It stands for a check:
// what the driver does must not depend on what the checks find.
func hazard() analyzers.Check {
	return check("wallclockexpiry", lint.RawDocumentation{Severity: lint.SeverityError}, func(pass *analysis.Pass) error {
		for _, f := range pass.Files {
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && id.Name == "hazard" {
					pass.Report(analysis.Diagnostic{
						Pos: call.Pos(), End: call.End(), Message: "hazard",
						Related: []analysis.RelatedInformation{{Pos: f.Name.Pos(), Message: "in this package"}},
					})
				}
				return true
			})
		}
		return nil
	})
}

func check(name string, doc lint.RawDocumentation, run func(*analysis.Pass) error) analyzers.Check {
	return analyzers.Check{
		Name: name,
		Doc:  &doc,
		New: func(*engine.Env) *analysis.Analyzer {
			return &analysis.Analyzer{
				Name: name, Doc: name,
				Run: func(pass *analysis.Pass) (any, error) { return nil, run(pass) },
			}
		},
	}
}

// tree writes a txtar archive to a directory of its own.
func tree(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	// On some systems the directory for temporary files is a symbolic link.
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// environ is an environment in which the go command fetches nothing.
func environ(more ...string) []string {
	return append(os.Environ(), append([]string{"GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=", "GOWORK="}, more...)...)
}

func run(t *testing.T, o driver.Options) *driver.Result {
	t.Helper()
	if o.Checks.On == nil {
		o.Checks.On = []analyzers.Check{hazard()}
	}
	if o.Env == nil {
		o.Env = environ()
	}
	r, err := driver.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lines shows findings as "file:line code severity message".
func lines(fs []finding.Finding) []string {
	var all []string
	for _, f := range fs {
		all = append(all, fmt.Sprintf("%s:%d %s %s %s", f.Location.File, f.Location.Line, f.Code, f.Severity, f.Message))
	}
	return all
}

// places shows findings as "file:line".
func places(fs []finding.Finding) []string {
	var all []string
	for _, f := range fs {
		all = append(all, fmt.Sprintf("%s:%d", f.Location.File, f.Location.Line))
	}
	return all
}

func expect(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

const module = "-- go.mod --\nmodule example.com/m\n\ngo 1.26\n"

func TestFinding(t *testing.T) {
	dir := tree(t, module+`
-- a/a.go --
package a

func hazard(...any) bool { return true }

type store[K any] struct{ field func() }

func (s *store[K]) run() {
	// Some words.
	_ = hazard(1, // inside
		func() { hazard(2) },   2)
	if x := hazard(3); x {
		hazard(4)
	}
	if x := true; hazard(5, x) { // words
		hazard(4)
	}
	switch {
	case hazard(6):
		s.field = func() { hazard(7) }
	}
}

var v = hazard(8)

var (
	w, x = hazard(9), func() bool {
		return hazard(10)
	}
)

type t struct {
	f [1]struct{ g func() }
}
`)
	r := run(t, driver.Options{Dir: filepath.Join(dir, "a"), Patterns: []string{"."}})
	if r.Root != dir || r.Packages != 1 {
		t.Errorf("root %s with %d packages, want %s with 1", r.Root, r.Packages, dir)
	}
	var got []string
	for _, f := range r.Findings {
		got = append(got, fmt.Sprintf("%d %s#%d %s", f.Location.Line, f.Function, f.Ordinal, f.Statement))
		if f.Package != "example.com/m/a" {
			t.Errorf("package %s", f.Package)
		}
	}
	expect(t, got, []string{
		"9 store.run#0 _ = hazard(1, func() { }, 2)",
		"10 store.run#0 hazard(2)",
		"11 store.run#0 x := hazard(3)",
		"12 store.run#0 hazard(4)",
		"14 store.run#0 if x := true; hazard(5, x)",
		"15 store.run#1 hazard(4)",
		"18 store.run#0 case hazard(6)",
		"19 store.run#0 hazard(7)",
		"23 #0 v = hazard(8)",
		"26 #0 w, x = hazard(9), func() bool { }",
		"27 #0 return hazard(10)",
	})
	want := finding.Finding{
		Code: "wallclockexpiry", Severity: finding.Error, Message: "hazard",
		Location: finding.Place{File: "a/a.go", Line: 23, Column: 9},
		End:      finding.Place{File: "a/a.go", Line: 23, Column: 18},
		Related: []finding.Related{{
			Location: finding.Place{File: "a/a.go", Line: 1, Column: 9},
			End:      finding.Place{File: "a/a.go", Line: 1, Column: 9},
			Message:  "in this package",
		}},
		Package: "example.com/m/a", Statement: "v = hazard(8)",
	}
	if got := r.Findings[8]; !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

func TestGeneratedFiles(t *testing.T) {
	dir := tree(t, module+`
-- a.go --
package a

func hazard() {}
-- gen.go --
// Words.

// Code generated by hand. DO NOT EDIT.

package a

func f() {
	//lint:ignore wallclockexpiry
	hazard()
}
-- late.go --
package a

// Code generated by hand. DO NOT EDIT.
func g() { hazard() }
-- grammar.go --
package a

//line grammar.y:100
func h() { hazard() }
`)
	expect(t, places(run(t, driver.Options{Dir: dir}).Findings), []string{"grammar.go:4", "late.go:4"})
}

func TestCgo(t *testing.T) {
	dir := tree(t, module+`
-- a.go --
package a

// int twice(int x) { return 2*x; }
import "C"

func hazard(...any) {}

func f() {
	hazard(C.twice(1))
	//lint:ignore wallclockexpiry also in what cgo makes
	hazard(C.twice(1))
}
-- gen.go --
// Code generated by hand. DO NOT EDIT.

package a

// int half(int x) { return x/2; }
import "C"

func g() { hazard(C.half(2)) }
`)
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("cgo needs gcc on the PATH: install it and run this test again")
	}
	r := run(t, driver.Options{Dir: dir, Env: environ("CGO_ENABLED=1")})
	expect(t, places(r.Findings), []string{"a.go:9"})
	if len(r.Broken) > 0 {
		t.Errorf("broken: %v", r.Broken)
	}
}

func TestBrokenCgo(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("cgo needs gcc on the PATH: install it and run this test again")
	}
	dir := tree(t, module+`
-- a.go --
package a

import "C"

func f() { C.nothing() }
`)
	r := run(t, driver.Options{Dir: dir, Env: environ("CGO_ENABLED=1")})
	want := driver.CompileError{
		Place:   finding.Place{File: "a.go", Line: 3, Column: 8},
		Message: "cgo fails: go build example.com/m says why",
	}
	if len(r.Broken) != 1 || r.Broken[0].Package != "example.com/m" || r.Broken[0].Errors[0] != want {
		t.Errorf("broken: %v, want %v", r.Broken, want)
	}
}

func TestDirectives(t *testing.T) {
	dir := tree(t, module+`
-- a.go --
package a

func hazard() {}

func f() {
	//lint:ignore wallclockexpiry the lease is this process's own
	hazard()
	//lint:ignore wallclockexpiry
	hazard()
	//lint:ignore wallclockexpiry,SA1000 nothing here
	f()
	//lint:ignore SA1000
	f()
	//lint:ignore checkthenwrite that check did not run
	hazard()
}

//lint:file-ignore wallclockexpiry for all of it
`)
	const fileIgnore = "//lint:file-ignore does not silence wallclockexpiry: write //lint:ignore at the statement, or name the file under exclude: in fence.yaml"
	expect(t, lines(run(t, driver.Options{Dir: dir}).Findings), []string{
		"a.go:8 lint error //lint:ignore wallclockexpiry gives no reason and is not honoured: say why the write is safe",
		"a.go:9 wallclockexpiry error hazard",
		"a.go:10 lint warning this directive silences nothing: wallclockexpiry reports nothing here: delete it",
		"a.go:15 wallclockexpiry error hazard",
		"a.go:18 lint error " + fileIgnore,
	})
}

func TestTests(t *testing.T) {
	dir := tree(t, module+`
-- a.go --
package a

func hazard() {}

func f() {
	hazard()
	//lint:ignore wallclockexpiry used in both variants
	hazard()
}
-- a_test.go --
package a

func g() { hazard() }
-- x_test.go --
package a_test

func hazard() {}

func g() { hazard() }
-- only/only_test.go --
package only
`)
	r := run(t, driver.Options{Dir: dir})
	expect(t, places(r.Findings), []string{"a.go:6"})
	r = run(t, driver.Options{Dir: dir, Tests: true})
	expect(t, places(r.Findings), []string{"a.go:6", "a_test.go:3", "x_test.go:5"})
}

func TestBuildTags(t *testing.T) {
	dir := tree(t, module+`
-- a.go --
package a

func hazard() {}
-- b.go --
//go:build slow && wide

package a

func f() { hazard() }
`)
	expect(t, places(run(t, driver.Options{Dir: dir}).Findings), nil)
	expect(t, places(run(t, driver.Options{Dir: dir, Tags: "slow,wide"}).Findings), []string{"b.go:5"})
}

func TestWorkspace(t *testing.T) {
	dir := tree(t, `
-- w/go.work --
go 1.26

use (
	./a
	./b
	../c
)
-- c/go.mod --
module example.com/c

go 1.26
-- c/c.go --
package c

func hazard() { hazard() }
-- w/a/go.mod --
module example.com/a

go 1.26
-- w/a/a.go --
package a

func hazard() {}

func F() { hazard() }
-- w/b/go.mod --
module example.com/b

go 1.26
-- w/b/b.go --
package b

import "example.com/a"

func hazard() { a.F() }

func f() { hazard() }
`)
	work := filepath.Join(dir, "w")
	both := []string{"a/a.go:5", "b/b.go:7"}
	r := run(t, driver.Options{Dir: work, Patterns: []string{"./a/...", "./b/..."}})
	expect(t, places(r.Findings), both)
	r = run(t, driver.Options{Dir: filepath.Join(work, "b"), Patterns: []string{"./...", "example.com/a"}})
	expect(t, places(r.Findings), both)
	r = run(t, driver.Options{Dir: work, Patterns: []string{"../c"}})
	expect(t, places(r.Findings), []string{"../c/c.go:3"})
}

func TestVendor(t *testing.T) {
	dir := tree(t, `
-- go.mod --
module example.com/m

go 1.26

require example.com/dep v1.0.0
-- a.go --
package a

import "example.com/dep"

func hazard() { dep.F() }

func f() { hazard() }
-- vendor/modules.txt --
# example.com/dep v1.0.0
## explicit; go 1.26
example.com/dep
-- vendor/example.com/dep/dep.go --
package dep

func hazard() {}

func F() { hazard() }
`)
	expect(t, places(run(t, driver.Options{Dir: dir}).Findings), []string{"a.go:7"})
}

func TestSymbolicLink(t *testing.T) {
	dir := tree(t, module+`
-- a/a.go --
package a

func hazard() { hazard() }
`)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skipf("this needs symbolic links: run it where the temporary directory allows them: %v", err)
	}
	expect(t, places(run(t, driver.Options{Dir: link}).Findings), []string{"a/a.go:3"})
}

const brokenTree = module + `
-- sound/sound.go --
package sound

func hazard() { hazard() }
-- typo/typo.go --
package typo

type T struct{ undefined }

func f() { alsoUndefined() }
-- body/body.go --
package body

func F() { undefined() }
-- syntax/syntax.go --
package syntax

func {
-- clause/clause.go --
pakage clause
-- usesclause/usesclause.go --
package usesclause

import _ "example.com/m/clause"
-- cycle/cycle.go --
package cycle

import _ "example.com/m/cycle"
-- missing/missing.go --
package missing

import _ "example.com/nowhere/x"
-- direct/direct.go --
package direct

import (
	"example.com/m/body"
	"example.com/m/typo"
)

var X typo.T

func F() { body.F(); undefined() }
-- indirect/indirect.go --
package indirect

import "example.com/m/direct"

func hazard() { direct.F(); hazard() }
`

func TestBroken(t *testing.T) {
	dir := tree(t, brokenTree)
	r := run(t, driver.Options{Dir: dir})
	expect(t, places(r.Findings), []string{"sound/sound.go:3"})
	if r.Packages != 1 {
		t.Errorf("%d packages checked, want 1", r.Packages)
	}
	var broken, not []string
	for _, b := range r.Broken {
		e := b.Errors[0]
		message, _, _ := strings.Cut(e.Message, "\n")
		broken = append(broken, fmt.Sprintf("%s %s:%d %s", b.Package, e.Place.File, e.Place.Line, message))
	}
	expect(t, broken, []string{
		"example.com/m/body body/body.go:3 undefined: undefined",
		"example.com/m/clause clause/clause.go:1 expected 'package', found pakage",
		"example.com/m/cycle :0 import cycle not allowed: import stack: [example.com/m/cycle example.com/m/cycle]",
		"example.com/m/missing missing/missing.go:3 no required module provides package example.com/nowhere/x; to add it:",
		"example.com/m/syntax syntax/syntax.go:3 expected 'IDENT', found '{'",
		"example.com/m/typo typo/typo.go:3 undefined: undefined",
	})
	for _, n := range r.NotChecked {
		not = append(not, n.Package+" "+n.Import)
	}
	expect(t, not, []string{
		"example.com/m/direct example.com/m/body",
		"example.com/m/indirect example.com/m/body",
		"example.com/m/usesclause example.com/m/clause",
	})
}

// A broken package that was not named is why a named one is not checked.
func TestBrokenImport(t *testing.T) {
	dir := tree(t, brokenTree)
	r := run(t, driver.Options{Dir: dir, Patterns: []string{"./indirect"}})
	if len(r.Broken) != 1 || r.Broken[0].Package != "example.com/m/body" || len(r.NotChecked) != 1 {
		t.Fatalf("broken %v, not checked %v", r.Broken, r.NotChecked)
	}
	want := driver.CompileError{
		Place:   finding.Place{File: "body/body.go", Line: 3, Column: 12},
		Message: "undefined: undefined",
	}
	if got := r.Broken[0].Errors; len(got) != 1 || got[0] != want {
		t.Errorf("errors %v, want %v", got, want)
	}
}

func TestFailures(t *testing.T) {
	dir := tree(t, module+`
-- a/a.go --
package a

func hazard() { hazard() }
-- b/b.go --
package b

//lint:ignore boom,bang the checks do not get here
func hazard() { hazard() }
`)
	boom := check("boom", lint.RawDocumentation{}, func(pass *analysis.Pass) error {
		if pass.Pkg.Name() == "b" {
			panic("out of cheese")
		}
		return nil
	})
	bang := check("bang", lint.RawDocumentation{}, func(pass *analysis.Pass) error {
		if pass.Pkg.Name() == "b" {
			return errors.New("no idea")
		}
		return nil
	})
	r := run(t, driver.Options{Dir: dir, Checks: driver.Selection{On: []analyzers.Check{bang, boom, hazard()}}})
	expect(t, places(r.Findings), []string{"a/a.go:3", "b/b.go:4"})
	var got []string
	for _, f := range r.Failures {
		message, stack, _ := strings.Cut(f.Err.Error(), "\n")
		got = append(got, f.Package+" "+f.Check+" "+message)
		if f.Check == "boom" && !strings.HasPrefix(stack, "github.com/fencelint/fence/analyzers/driver_test.TestFailures") {
			t.Errorf("the stack starts elsewhere: %s", stack)
		}
	}
	expect(t, got, []string{
		"example.com/m/b bang no idea",
		"example.com/m/b boom panic: out of cheese",
	})
}

func TestLevels(t *testing.T) {
	const files = `
-- a/a.go --
package a

func hazard() { hazard() }
-- b/b.go --
package b

func hazard() { hazard() }
-- b/fence.yaml --
checks: {wallclockexpiry: off}
-- b/c/c.go --
package c

func hazard() { hazard() }
-- b/c/fence.yaml --
checks: {wallclockexpiry: error}
-- other.yaml --
checks: {wallclockexpiry: off}
`
	dir := tree(t, module+files+"-- fence.yaml --\nchecks: {wallclockexpiry: warning}\n")
	expect(t, lines(run(t, driver.Options{Dir: dir}).Findings), []string{
		"a/a.go:3 wallclockexpiry warning hazard",
		"b/c/c.go:3 wallclockexpiry error hazard",
	})
	expect(t, lines(run(t, driver.Options{Dir: dir, ConfigFile: "other.yaml"}).Findings), nil)
}

// A check that is off by default runs where a fence.yaml gives it a level.
func TestOptIn(t *testing.T) {
	dir := tree(t, module+`
-- a/a.go --
package a

func hazard() { hazard() }

//lint:ignore unboundrun nobody opted in here
var x int
-- b/b.go --
package b

func hazard() { hazard() }

//lint:ignore unboundrun nothing to silence
var x int
-- b/fence.yaml --
checks: {unboundrun: error}
`)
	quiet := hazard()
	optIn := hazard()
	optIn.Name = "unboundrun"
	newHazard := optIn.New
	optIn.New = func(env *engine.Env) *analysis.Analyzer {
		a := newHazard(env)
		a.Name = optIn.Name
		return a
	}
	quiet.New = func(*engine.Env) *analysis.Analyzer {
		return &analysis.Analyzer{Name: quiet.Name, Doc: "finds nothing", Run: func(*analysis.Pass) (any, error) { return nil, nil }}
	}
	checks := driver.Selection{On: []analyzers.Check{quiet}, OptIn: []analyzers.Check{optIn}}
	expect(t, lines(run(t, driver.Options{Dir: dir, Checks: checks}).Findings), []string{
		"b/b.go:3 unboundrun error hazard",
		"b/b.go:5 lint warning this directive silences nothing: unboundrun reports nothing here: delete it",
	})
	expect(t, lines(run(t, driver.Options{Dir: dir, Patterns: []string{"./a"}, Checks: checks}).Findings), nil)
}

func TestUsageErrors(t *testing.T) {
	dir := tree(t, brokenTree+`
-- empty/readme --
-- tagged/tagged.go --
//go:build never

package tagged
-- onlytests/a_test.go --
package onlytests
-- badconfig/a.go --
package badconfig
-- badconfig/fence.yaml --
tabels: {}
`)
	for _, test := range []struct {
		o    driver.Options
		want string
	}{
		{driver.Options{Patterns: []string{"./nowhere"}}, "directory not found"},
		{driver.Options{Patterns: []string{"./nowhere/..."}}, "no such file"},
		{driver.Options{Patterns: []string{"./empty/..."}}, "./empty/... matches no packages"},
		{driver.Options{Patterns: []string{"./sound", "./empty/..."}}, "./empty/... matches no packages"},
		{driver.Options{Patterns: []string{"./tagged"}}, "--tags"},
		{driver.Options{Patterns: []string{"./onlytests"}}, "--tests"},
		{driver.Options{Patterns: []string{"nowhere"}}, "leading ./"},
		{driver.Options{Patterns: []string{"example.com/nowhere"}}, "go get example.com/nowhere"},
		{driver.Options{Dir: "nowhere"}, "-C"},
		{driver.Options{Dir: "go.mod"}, "not a directory"},
		{driver.Options{Patterns: []string{"./sound"}, ConfigFile: "nowhere.yaml"}, "nowhere.yaml"},
		{driver.Options{Patterns: []string{"./badconfig"}}, "fence.yaml:1:1"},
	} {
		test.o.Dir = filepath.Join(dir, test.o.Dir)
		test.o.Env = environ()
		_, err := driver.Run(context.Background(), test.o)
		var usage *driver.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v (%T), want usage error %q", test.o.Patterns, err, err, test.want)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	for name, test := range map[string]struct {
		archive, want string
		usage         bool
	}{
		"newer Go":   {"-- go.mod --\nmodule m\n\ngo 1.99\n-- a.go --\npackage a\n", "GOTOOLCHAIN=auto", false},
		"bad go.mod": {"-- go.mod --\nmodul m\n-- a.go --\npackage a\n", "go.mod:1: unknown directive: modul", false},
		"no go.mod":  {"-- a.go --\npackage a\n", "run fence in a module", true},
		"vendor": {"-- go.mod --\nmodule m\n\ngo 1.26\n\nrequire example.com/x v1.0.0\n-- a.go --\npackage a\n-- vendor/modules.txt --\n",
			"inconsistent vendoring", false},
	} {
		_, err := driver.Run(context.Background(), driver.Options{Dir: tree(t, test.archive), Env: environ()})
		var load *driver.LoadError
		var usage *driver.UsageError
		if errors.As(err, &usage) != test.usage || errors.As(err, &load) == test.usage || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v (%T), want %q", name, err, err, test.want)
		}
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := driver.Run(ctx, driver.Options{Dir: tree(t, module), Env: environ()}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestAnyNumberOfCores(t *testing.T) {
	var archive strings.Builder
	archive.WriteString(module)
	for i := range 20 {
		fmt.Fprintf(&archive, "-- p%02d/a.go --\npackage p\n\nfunc hazard() { hazard(); hazard() }\n", i)
	}
	dir := tree(t, archive.String())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first []finding.Finding
	for _, cores := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(cores)
		got := run(t, driver.Options{Dir: dir}).Findings
		if len(got) != 40 {
			t.Fatalf("%d findings, want 40", len(got))
		}
		if first == nil {
			first = got
		}
		if !reflect.DeepEqual(got, first) {
			t.Errorf("%d cores find something else", cores)
		}
	}
}
