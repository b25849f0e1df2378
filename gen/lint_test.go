package gen_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLint has golangci-lint look at the generated packages of this repository as at code
// by hand: revive leaves out what says that it is generated, so the copies do not say it.
func TestLint(t *testing.T) {
	gcl := os.Getenv("FENCE_TEST_GCL")
	if gcl == "" {
		t.Skip("FENCE_TEST_GCL names no golangci-lint: CONTRIBUTING.md says how to build one")
	}
	settings, err := filepath.Abs("emit/golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	copies := byHand(t, dir)
	run := func() (string, error) {
		cmd := exec.Command(gcl, "run", "-c", settings, "./...")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	// It would find something.
	for _, path := range copies {
		if filepath.Base(path) != "docs_fence.go" {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		data = bytes.Replace(data, []byte("// DocsKey is the primary key of table docs.\n"), nil, 1)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		break
	}
	if out, err := run(); err == nil || !strings.Contains(out, "exported type DocsKey should have comment") {
		t.Errorf("an exported type without a comment is not found: %v\n%s", err, out)
	}
}

// byHand copies the generated packages of fencedb/storetest into a module of their own,
// without the line that says what they are.
func byHand(t *testing.T, dir string) []string {
	t.Helper()
	store := filepath.Join("..", "fencedb", "storetest")
	fencedb, err := filepath.Abs(filepath.Join("..", "fencedb"))
	if err != nil {
		t.Fatal(err)
	}
	put := func(path string, data []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	get := func(path string) []byte {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	put(filepath.Join(dir, "go.mod"), bytes.ReplaceAll(get(filepath.Join(store, "go.mod")), []byte("=> ../"), []byte("=> "+fencedb)))
	put(filepath.Join(dir, "go.sum"), get(filepath.Join(store, "go.sum")))
	files, err := filepath.Glob(filepath.Join(store, "writers", "*", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var copies []string
	for _, path := range files {
		_, text, ok := bytes.Cut(get(path), []byte("\n\n")) // after the header
		if !ok {
			t.Fatalf("%s has no header", path)
		}
		rel, err := filepath.Rel(store, path)
		if err != nil {
			t.Fatal(err)
		}
		copies = append(copies, filepath.Join(dir, rel))
		put(filepath.Join(dir, rel), text)
	}
	return copies
}
