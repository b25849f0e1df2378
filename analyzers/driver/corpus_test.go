package driver_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/analyzers/driver"
)

// corpora are the modules of labelled cases, and whether each driver runs on them:
// to start a process for each package of one is proof enough.
var corpora = []struct {
	name  string
	units bool
}{{"corpus", true}, {"src", false}}

// marks say in a message that only all packages together show it.
var marks = []string{"via interface", "via module", "via caller"}

// All drivers find the same, but for what only all packages together show: that
// fence check alone can find, and it says so in the message.
func TestCorpus(t *testing.T) {
	gcl := os.Getenv("FENCE_TEST_GCL")
	if gcl == "" {
		t.Skip("FENCE_TEST_GCL does not name a golangci-lint with fence in it: build one with (cd analyzers/plugin/gcl && GOWORK=off go build -o ../../../bin/gcl) and set it to the absolute path of bin/gcl")
	}
	t.Setenv("GOWORK", "off")
	for _, c := range corpora {
		t.Run(c.name, func(t *testing.T) {
			dir, err := filepath.Abs(filepath.Join("..", "..", "testdata", c.name))
			if err != nil {
				t.Fatal(err)
			}
			whole := checkLines(t, dir)
			plain := slices.DeleteFunc(slices.Clone(whole), marked)
			const check = "fence check without what is marked"
			compare(t, "golangci-lint", golangciLines(t, gcl, dir), check, plain)
			compare(t, "go vet", vetLines(t, dir), check, plain)
			if c.units {
				compare(t, "one process for each package", unitLines(t, dir), check, plain)
			}
			t.Logf("%d findings of fence check, %d of them marked", len(whole), len(whole)-len(plain))
			if len(plain) < 25 {
				t.Error("too few to compare")
			}
		})
	}
}

func marked(l line) bool {
	return slices.ContainsFunc(marks, func(m string) bool { return strings.Contains(l.message, m) })
}

func compare(t *testing.T, one string, a []line, other string, b []line) {
	t.Helper()
	for _, l := range a {
		if !slices.Contains(b, l) {
			t.Errorf("%s finds and %s does not: %+v", one, other, l)
		}
	}
	for _, l := range b {
		if !slices.Contains(a, l) {
			t.Errorf("%s finds and %s does not: %+v", other, one, l)
		}
	}
	if len(a) != len(b) && !t.Failed() {
		t.Errorf("%s finds %d, %s %d", one, len(a), other, len(b))
	}
}

func sorted(ls []line) []line {
	slices.SortFunc(ls, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.check, b.check), cmp.Compare(a.message, b.message))
	})
	return ls
}

func checkLines(t *testing.T, dir string) []line {
	t.Helper()
	checks, err := driver.Select(analyzers.All(), "default")
	if err != nil {
		t.Fatal(err)
	}
	r, err := driver.Run(t.Context(), driver.Options{Dir: dir, Checks: checks})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Broken)+len(r.Failures) > 0 {
		t.Fatalf("broken: %v, failures: %v", r.Broken, r.Failures)
	}
	var out []line
	for _, f := range r.Findings {
		if _, ok := analyzers.Lookup(f.Code); ok {
			out = append(out, line{f.Code, f.Location.File, f.Location.Line, f.Message})
		}
	}
	return sorted(out)
}

func vetLines(t *testing.T, dir string) []line {
	t.Helper()
	tool, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return sorted(jsonLines(t, dir, output(t, dir, nil, "go", "vet", "-json", "-vettool="+tool, "./...")))
}

func unitLines(t *testing.T, dir string) []line {
	t.Helper()
	var out []line
	us := runUnits(t, dir, false, "-json")
	for _, path := range slices.Sorted(maps.Keys(us)) {
		out = append(out, jsonLines(t, dir, us[path].stdout)...)
	}
	return sorted(out)
}

// quiet has golangci-lint show every finding.
const quiet = `version: "2"
linters:
  default: none
  enable: [fence]
  settings: {custom: {fence: {type: module}}}
issues: {max-issues-per-linter: 0, max-same-issues: 0, uniq-by-line: false}
`

func golangciLines(t *testing.T, gcl, dir string) []line {
	t.Helper()
	config := filepath.Join(t.TempDir(), "golangci.yml")
	if err := os.WriteFile(config, []byte(quiet), 0o644); err != nil {
		t.Fatal(err)
	}
	text := output(t, dir, []string{"GOLANGCI_LINT_CACHE=" + t.TempDir()}, gcl, "run", "-c", config,
		"--issues-exit-code=0", "--show-stats=false", "--path-mode=abs", "--output.json.path=stdout", "./...")
	var report struct {
		Issues []struct {
			Text string
			Pos  struct {
				Filename     string
				Line, Column int
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	var out []line
	for _, i := range report.Issues {
		check, message, ok := strings.Cut(i.Text, ": ")
		if !ok {
			t.Fatalf("no analyzer in %q", i.Text)
		}
		out = append(out, lineAt(t, dir, check, fmt.Sprintf("%s:%d:%d", i.Pos.Filename, i.Pos.Line, i.Pos.Column), message))
	}
	return sorted(out)
}

// output runs a command that has to succeed and returns what it prints.
func output(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("%s %s: %v\n%s", name, args[0], err, stderr.String())
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
