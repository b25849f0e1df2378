package gen_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/fencelint/fence/gen"
)

// TestOneLineOfGoMod adds fencedb to a program that uses pgx, as go get does once fencedb
// is released: its go.mod gets one line, no version changes, and generated packages
// compile.
func TestOneLineOfGoMod(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles pgx")
	}
	dir := t.TempDir()
	files(t, dir, map[string]string{
		"go.mod":  "module example.com/program\n\ngo 1.25\n",
		"main.go": "package main\n\nimport (\n\t_ \"github.com/jackc/pgx/v5/pgxpool\"\n\t_ \"golang.org/x/sync/errgroup\"\n)\n\nfunc main() {}\n",
	})
	// What the program needs without fencedb is in the module cache after this.
	for _, module := range []string{"github.com/jackc/pgx/v5@v5.7.5", "golang.org/x/sync@v0.13.0"} {
		if out, err := goIn(dir, nil, "get", module); err != nil {
			t.Skipf("%s cannot be downloaded, so nothing is built with it; go mod download %s: %v\n%s", module, module, err, out)
		}
	}
	if out, err := goIn(dir, nil, "list", "-deps", "./..."); err != nil {
		t.Skipf("what the program needs cannot be downloaded; go mod download all: %v\n%s", err, out)
	}
	before := lines(t, filepath.Join(dir, "go.mod"))

	for name, tables := range map[string]string{
		"both": "{docs: {fence: fence}, notes: {guard: fence_guards}}",
		"rows": "{docs: {fence: fence}}", "scopes": "{notes: {guard: fence_guards}, events: {guard: fence_guards}}",
	} {
		generated(t, filepath.Join(dir, name), tables, "")
		generated(t, filepath.Join(dir, name+"runtime"), tables, ", schema: runtime")
	}
	files(t, dir, map[string]string{"uses.go": "package main\n\nimport _ \"example.com/program/both\"\n"})
	env := releasedTo(t, "v0.1.0")
	if out, err := goIn(dir, env, "get", "github.com/fencelint/fence/fencedb@v0.1.0"); err != nil {
		t.Fatalf("go get: %v\n%s", err, out)
	}
	if out, err := goIn(dir, env, "build", "./..."); err != nil {
		t.Errorf("the generated packages: %v\n%s", err, out)
	}
	after := lines(t, filepath.Join(dir, "go.mod"))
	want := "\tgithub.com/fencelint/fence/fencedb v0.1.0"
	if at := slices.Index(after, want); at < 0 || !slices.Equal(slices.Delete(slices.Clone(after), at, at+1), before) {
		t.Errorf("go.mod was\n%s\nand is\n%s\nwant one line more, %q", strings.Join(before, "\n"), strings.Join(after, "\n"), want)
	}
}

// generated writes a generated package for pgx, of some tables, into dir.
func generated(t *testing.T, dir, tables, more string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	schema, err := os.ReadFile(filepath.Join("..", "fencedb", "storetest", "writers", "pgx", "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	files(t, dir, map[string]string{
		"schema.sql": string(schema),
		"fence.yaml": "dialect: postgres\nschema: [schema.sql]\ntables: " + tables + "\ngenerate: {package: " + filepath.Base(dir) + ", dir: ., driver: pgx" + more + "}\n",
	})
	r, err := gen.Load(filepath.Join(dir, "fence.yaml"), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write(); err != nil {
		t.Fatal(err)
	}
}

// releasedTo makes a module proxy with fencedb as it is here under a version, and returns
// the environment in which go takes it from there, and everything else from the module
// cache. A module cache of its own keeps that version out of everybody else's.
func releasedTo(t *testing.T, version string) []string {
	t.Helper()
	const path = "github.com/fencelint/fence/fencedb"
	proxy := t.TempDir()
	at := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	source := filepath.Join("..", "fencedb")
	mod, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(at, 0o777); err != nil {
		t.Fatal(err)
	}
	files(t, at, map[string]string{
		version + ".mod": string(mod), "list": version + "\n",
		version + ".info": fmt.Sprintf(`{"Version":%q,"Time":"2026-01-01T00:00:00Z"}`, version),
	})
	f, err := os.Create(filepath.Join(at, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// Modules below it, storetest, are left out.
	if err := zip.CreateFromDir(f, module.Version{Path: path, Version: version}, source); err != nil {
		t.Fatal(err)
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		"GOPROXY=file://" + filepath.ToSlash(proxy) + ",file://" + filepath.ToSlash(filepath.Join(strings.TrimSpace(string(cache)), "cache", "download")),
		"GOMODCACHE=" + t.TempDir(), "GOSUMDB=off",
	}
}

// goIn runs go in dir, outside of this workspace.
func goIn(dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod -modcacherw"), env...)
	return cmd.CombinedOutput()
}

func files(t *testing.T, dir string, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(data), "\n")
}
