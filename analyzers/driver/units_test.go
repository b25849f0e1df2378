package driver_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
	"golang.org/x/tools/go/packages"

	"github.com/fencelint/fence/analyzers/driver"
)

// TestMain lets the test's own program be the vettool that tests run.
func TestMain(m *testing.M) {
	if driver.IsVet(os.Args[1:]) {
		driver.Vet()
	}
	dir, err := os.MkdirTemp("", "fence-units")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	standard.dir = dir
	status := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(status)
}

// standard are the units of the standard library, in which nothing is summed up: they are the
// same for all runs, whatever their flags.
var standard = shared{done: map[string]*unit{}}

type shared struct {
	dir string // for what they come to

	mu   sync.Mutex
	done map[string]*unit
}

func (s *shared) get(path string) *unit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done[path] == nil {
		s.done[path] = &unit{}
	}
	return s.done[path]
}

// units runs a vettool over packages as a build system does: one process for each
// package, those it imports first, and nothing but files between them.
type units struct {
	t     *testing.T
	dir   string   // where the processes run, as in a sandbox; sources are named from there
	flags []string // of every process
	bare  bool     // tell no process which module its package is in, as nogo does
	slots chan struct{}
	own   shared // of the packages that are not of the standard library
}

// unit is one package that was analysed.
type unit struct {
	once           sync.Once
	vetx           string // its types and facts, for those that import it
	exit           int
	stdout, stderr string
}

// runUnits analyses the packages below dir, and what they import for its facts,
// and returns the former by import path.
func runUnits(t *testing.T, dir string, bare bool, flags ...string) map[string]*unit {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
		Dir:  dir,
		Env:  append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0"),
	}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	if packages.PrintErrors(pkgs) > 0 {
		t.Fatal("the packages do not load")
	}
	u := &units{t: t, dir: dir, flags: flags, bare: bare, own: shared{dir: t.TempDir(), done: map[string]*unit{}}, slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
	roots := map[string]*unit{}
	var wg sync.WaitGroup
	for _, p := range pkgs {
		roots[p.PkgPath] = u.own.get(p.PkgPath)
	}
	for _, p := range pkgs {
		wg.Go(func() { u.run(p, roots) })
	}
	wg.Wait()
	return roots
}

// of returns where the unit of a package is kept.
func (u *units) of(p *packages.Package) *shared {
	if p.Module == nil {
		return &standard
	}
	return &u.own
}

// run analyses p once everything it imports has been.
func (u *units) run(p *packages.Package, roots map[string]*unit) {
	kept := u.of(p)
	self := kept.get(p.PkgPath)
	self.once.Do(func() {
		cfg := unitchecker.Config{
			ID: p.ID, ImportPath: p.PkgPath, Compiler: "gc", GoFiles: u.relative(p.CompiledGoFiles),
			ImportMap: map[string]string{}, PackageVetx: map[string]string{},
			VetxOnly: roots[p.PkgPath] == nil,
		}
		dir, err := os.MkdirTemp(kept.dir, "")
		if err != nil {
			u.t.Error(err)
			return
		}
		cfg.VetxOutput = filepath.Join(dir, "vetx")
		if p.Module != nil {
			cfg.GoVersion = "go" + p.Module.GoVersion
			if !u.bare {
				cfg.Module = &analysis.Module{Path: p.Module.Path, Version: p.Module.Version}
			}
		}
		var wg sync.WaitGroup
		for name, imp := range p.Imports {
			cfg.ImportMap[name] = imp.PkgPath
			if imp.PkgPath == "unsafe" {
				continue
			}
			wg.Go(func() { u.run(imp, roots) })
		}
		wg.Wait()
		for _, imp := range p.Imports {
			if imp.PkgPath != "unsafe" {
				cfg.PackageVetx[imp.PkgPath] = u.of(imp).get(imp.PkgPath).vetx
			}
		}
		self.vetx = cfg.VetxOutput
		u.slots <- struct{}{}
		defer func() { <-u.slots }()
		u.exec(self, cfg)
	})
}

func (u *units) exec(self *unit, cfg unitchecker.Config) {
	data, err := json.Marshal(cfg)
	if err != nil {
		u.t.Error(err)
		return
	}
	file := strings.TrimSuffix(cfg.VetxOutput, "vetx") + "unit.cfg"
	if err := os.WriteFile(file, data, 0o644); err != nil {
		u.t.Error(err)
		return
	}
	tool, err := os.Executable()
	if err != nil {
		u.t.Error(err)
		return
	}
	cmd := exec.Command(tool, append(append([]string{}, u.flags...), file)...)
	cmd.Dir = u.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		u.t.Error(err)
	}
	self.exit, self.stdout, self.stderr = cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
	if _, err := os.Stat(self.vetx); err != nil {
		u.t.Errorf("%s: no facts: %v\n%s", cfg.ID, err, self.stderr)
	}
}

// relative names the files below the directory from there.
func (u *units) relative(files []string) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f
		if rel, err := filepath.Rel(u.dir, f); err == nil && filepath.IsLocal(rel) {
			out[i] = rel
		}
	}
	return out
}

// line is a finding as all drivers can show it.
type line struct {
	check, file string
	line        int
	message     string
}

// jsonLines reads what a vettool prints with -json, also for many packages one
// after the other. Files are named from dir.
func jsonLines(t *testing.T, dir, text string) []line {
	t.Helper()
	var out []line
	for dec := json.NewDecoder(strings.NewReader(text)); dec.More(); {
		var tree map[string]map[string]json.RawMessage
		if err := dec.Decode(&tree); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		for pkg, checks := range tree {
			for check, data := range checks {
				var ds []struct{ Posn, Message string }
				if err := json.Unmarshal(data, &ds); err != nil {
					t.Errorf("%s: %s says %s", pkg, check, data)
				}
				for _, d := range ds {
					out = append(out, lineAt(t, dir, check, d.Posn, d.Message))
				}
			}
		}
	}
	return out
}

// lineAt makes a line of a place as printed: file:line:column.
func lineAt(t *testing.T, dir, check, place, message string) line {
	t.Helper()
	parts := strings.Split(place, ":")
	if len(parts) < 3 {
		t.Fatalf("%q is no place", place)
	}
	n, err := strconv.Atoi(parts[len(parts)-2])
	if err != nil {
		t.Fatal(err)
	}
	file := strings.Join(parts[:len(parts)-2], ":")
	if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsAbs(file) {
		file = rel
	}
	return line{check, filepath.ToSlash(file), n, message}
}
