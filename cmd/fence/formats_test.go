package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/analyzers/driver"
	"github.com/fencelint/fence/internal/finding"
)

// What fence says of the demo is SARIF.
func TestSARIFOfDemo(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := run([]string{"check", "-C", filepath.Join(repository, "testdata", "demo"), "-f", "sarif"}, &stdout, &stderr); status != exitFindings {
		t.Fatalf("exit status %d: %s", status, &stderr)
	}
	log, err := jsonschema.UnmarshalJSON(&stdout)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile(filepath.Join(repository, "internal", "finding", "testdata", "sarif-2.1.0", "sarif-schema-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(log); err != nil {
		t.Error(err)
	}
}

// Every code has a rule that says something, whichever checks are on.
func TestRules(t *testing.T) {
	all := rules(analyzers.All())
	if want := len(analyzers.All()) + 2; len(all) != want {
		t.Errorf("%d rules, want %d", len(all), want)
	}
	for _, r := range all {
		for what, text := range map[string]string{
			"title": r.Title, "summary": r.Summary, "text": r.Text, "markdown": r.Markdown, "severity": string(r.Severity),
		} {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s has no %s", r.ID, what)
			}
		}
		if strings.Contains(r.Summary, "\n") || len(r.Summary) > 1024 { // what GitHub shows
			t.Errorf("the summary of %s is not one short paragraph: %q", r.ID, r.Summary)
		}
		page, _, _ := strings.Cut(strings.TrimPrefix(r.URL, "https://github.com/fencelint/fence/blob/main/"), "#")
		if _, err := os.Stat(filepath.Join(repository, filepath.FromSlash(page))); err != nil {
			t.Errorf("%s links to %s: %v", r.ID, r.URL, err)
		}
	}
}

func TestNotes(t *testing.T) {
	var many []driver.CompileError
	for range mostErrors + 1 {
		many = append(many, driver.CompileError{Place: finding.Place{File: "a.go", Line: 1, Column: 2}, Message: "undefined: x"})
	}
	r := &driver.Result{
		Broken:     []driver.Broken{{Package: "p", Errors: many}},
		NotChecked: []driver.NotChecked{{Package: "q", Import: "p"}},
		Failures:   []driver.Failure{{Package: "r", Check: "lint", Err: errors.New("panic: x\n/src/fence.go:1")}},
	}
	broken := finding.Note{Message: "p does not compile: undefined: x", Place: finding.Place{File: "sub/a.go", Line: 1, Column: 2}}
	want := []finding.Note{
		broken, broken, broken,
		{Message: "q: not checked: p does not compile"},
		{Message: "r: lint failed: panic: x"},
	}
	if got := notes(r, func(file string) string { return "sub/" + file }); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestFromRepository(t *testing.T) {
	top := t.TempDir()
	module := filepath.Join(top, "backend")
	write(t, filepath.Join(top, ".git"), "gitdir: elsewhere\n")
	write(t, filepath.Join(module, "go.mod"), "module example.com/m\n")
	outside := filepath.ToSlash(filepath.Join(filepath.Dir(top), "a.go"))
	name := fromRepository(module)
	for file, want := range map[string]string{
		"":           "",
		"a/b.go":     "backend/a/b.go",
		"../b.go":    "b.go",
		"../../b.go": "../b.go",
		filepath.ToSlash(filepath.Join(top, "fence.yaml")): "fence.yaml",
		outside: outside,
	} {
		if got := name(file); got != want {
			t.Errorf("%q is %q, want %q", file, got, want)
		}
	}
}

func TestOneOf(t *testing.T) {
	for want, names := range map[string][]string{
		"":          nil,
		"a":         {"a"},
		"a or b":    {"a", "b"},
		"a, b or c": {"a", "b", "c"},
	} {
		if got := oneOf(names); got != want {
			t.Errorf("%q: %q, want %q", names, got, want)
		}
	}
}

// docs/formats.md has a section for each format.
func TestDocumentedFormats(t *testing.T) {
	var got []string
	for _, s := range sections(readFile(t, "docs", "formats.md")) {
		if slices.Contains(formatNames(), s.heading) {
			got = append(got, s.heading)
		}
	}
	if !slices.Equal(got, formatNames()) {
		t.Errorf("docs/formats.md is about %q, want %q", got, formatNames())
	}
}
