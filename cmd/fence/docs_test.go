package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/internal/config"
)

// repository is the root of the tree, from this package.
var repository = filepath.Join("..", "..")

func readFile(t *testing.T, elem ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{repository}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// section is what stands under a heading of the second level.
type section struct {
	heading string
	blocks  []block
}

// block is one fenced block of a page, or a comment that says what it shows.
type block struct {
	language, text string
	shows          string // the comment right before it
}

var comment = regexp.MustCompile(`^<!-- shows: (.*) -->$`)

// sections splits a page; what stands before the first heading has none.
func sections(page string) []section {
	all := []section{{}}
	var open *block
	shows := ""
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		last := &all[len(all)-1]
		switch {
		case open != nil && line == "```":
			last.blocks = append(last.blocks, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		case strings.HasPrefix(line, "```"):
			open = &block{language: strings.TrimPrefix(line, "```"), shows: shows}
			shows = ""
		case strings.HasPrefix(line, "## "):
			all = append(all, section{heading: strings.TrimPrefix(line, "## ")})
		case comment.MatchString(line):
			shows = comment.FindStringSubmatch(line)[1]
		}
	}
	return all
}

// pageHeadings are what a check's page has, in this order.
var pageHeadings = []string{
	"What", "Why", "Bad", "Good", "Timeline", "What it never flags", "How to configure", "Known limits",
}

// Every check has a page, which starts like fence explain and is complete.
func TestCheckPages(t *testing.T) {
	for _, check := range analyzers.All() {
		page := readFile(t, "docs", "checks", check.Name+".md")
		title := check.Doc.Compile().Title
		// Lines are broken anywhere; words are what counts.
		if got, want := strings.Join(strings.Fields(page), " "), "# "+check.Name+" "+title+". Severity: "+severity(check)+"."; !strings.HasPrefix(got, want) {
			t.Errorf("docs/checks/%s.md does not start with %q", check.Name, want)
		}
		var headings []string
		for _, s := range sections(page) {
			if s.heading != "" {
				headings = append(headings, s.heading)
			}
			if s.heading == "Timeline" && !slices.ContainsFunc(s.blocks, func(b block) bool { return b.language == "mermaid" }) {
				t.Errorf("docs/checks/%s.md: the timeline has no diagram", check.Name)
			}
		}
		if !slices.Equal(headings, pageHeadings) {
			t.Errorf("docs/checks/%s.md has the headings %q, want %q", check.Name, headings, pageHeadings)
		}
	}
}

// prelude is what the examples of the pages take for granted.
const prelude = `package example

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"os"
	"time"
)

var (
	worker, _   = os.Hostname()
	errNotOwner = errors.New("another process owns it")

	_ context.Context
	_ *sql.DB
	_ *http.Request
	_ time.Time
)

`

// The examples of a check's page are what fence says they are: each one under
// Bad has a finding of the check, no other has any.
func TestCheckPageExamples(t *testing.T) {
	for _, check := range analyzers.All() {
		t.Run(check.Name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "go.mod"), "module example.com/page\n\ngo 1.26\n")
			bad := map[string]string{} // directory -> example
			var schema string          // what the examples run on
			for i, s := range sections(readFile(t, "docs", "checks", check.Name+".md")) {
				for j, b := range s.blocks {
					if b.language == "sql" {
						schema += b.text
					}
					if b.language != "go" {
						continue
					}
					if _, err := format.Source([]byte(b.text)); err != nil {
						t.Errorf("under %s: %v\n%s", s.heading, err, b.text)
						continue
					}
					name := fmt.Sprintf("example%d_%d", i, j)
					if s.heading == "Bad" {
						bad[name] = b.text
					}
					write(t, filepath.Join(dir, name, "example.go"), prelude+b.text)
				}
			}
			if len(bad) == 0 {
				t.Error("no bad example")
			}
			if schema != "" {
				write(t, filepath.Join(dir, "schema.sql"), schema)
				write(t, filepath.Join(dir, "fence.yaml"), "version: 1\nschema: [schema.sql]\n")
			}
			for _, f := range findings(t, dir) {
				name := filepath.Dir(f.Location.File)
				if f.Code != check.Name || bad[name] == "" {
					t.Errorf("unexpected: %s: %s", f.Code, f.Message)
				}
				delete(bad, name)
			}
			for _, text := range bad {
				t.Errorf("%s finds nothing in\n%s", check.Name, text)
			}
		})
	}
}

// printed is what the tests read of a finding in JSON.
type printed struct {
	Code     string `json:"code"`
	Message  string `json:"message"`
	Location struct {
		File string `json:"file"`
		Line int    `json:"line"`
	} `json:"location"`
}

// findings returns what fence check reports of the module or workspace in dir.
func findings(t *testing.T, dir string) []printed {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := run([]string{"check", "-C", dir, "-f", "json"}, &stdout, &stderr)
	if status != exitOK && status != exitFindings || stderr.Len() > 0 {
		t.Fatalf("exit status %d: %s", status, &stderr)
	}
	var all []printed
	for dec := json.NewDecoder(&stdout); dec.More(); {
		var f printed
		if err := dec.Decode(&f); err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// The demo has each thing wrong and right; fence tells them apart.
func TestDemo(t *testing.T) {
	want := map[string]string{ // function -> its checks
		"Acquire": "wallclockexpiry checkthenwrite",
		"Reap":    "wallclockexpiry",
		"Renew":   "checkthenwrite",
		"Save":    "checkthenwrite",
		"Publish": "checkthenwrite",
		"Release": "checkthenwrite",
	}
	demo := filepath.Join(repository, "testdata", "demo")
	funcs := functions(t, filepath.Join(demo, "wrong", "wrong.go"))
	got := map[string]string{}
	for _, f := range findings(t, demo) {
		if !strings.HasSuffix(f.Location.File, "demo/wrong/wrong.go") {
			t.Errorf("%s:%d: %s", f.Location.File, f.Location.Line, f.Message)
			continue
		}
		name := funcs(f.Location.Line)
		got[name] = strings.TrimSpace(got[name] + " " + f.Code)
	}
	for name, check := range want {
		if got[name] != check {
			t.Errorf("%s has a finding of %q, want %s", name, got[name], check)
		}
		delete(got, name)
	}
	for name, check := range got {
		t.Errorf("%s has a finding of %s, want none", name, check)
	}
}

// functions returns what names the function at a line of a file.
func functions(t *testing.T, file string) func(line int) string {
	t.Helper()
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return func(line int) string {
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && fset.Position(f.Pos()).Line <= line && line <= fset.Position(f.End()).Line {
				return f.Name.Name
			}
		}
		return ""
	}
}

// What README.md shows is what its commands print; a line of three dots stands
// for lines that are left out.
func TestReadmeOutput(t *testing.T) {
	page := readFile(t, "README.md")
	t.Chdir(repository)
	shown := 0
	for _, s := range sections(page) {
		for _, b := range s.blocks {
			if b.shows == "" {
				continue
			}
			shown++
			args := strings.Fields(b.shows)
			var stdout bytes.Buffer
			if args[0] == "fence" {
				run(args[1:], &stdout, &stdout)
			} else {
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Stdout, cmd.Stderr = &stdout, &stdout
				if err := cmd.Run(); err != nil {
					t.Errorf("%s: %v", b.shows, err)
				}
			}
			if !abridges(b.text, stdout.String()) {
				t.Errorf("%s prints\n%s\nREADME.md shows\n%s", b.shows, &stdout, b.text)
			}
		}
	}
	if shown == 0 {
		t.Error("README.md shows no output")
	}
}

// abridges tells whether shown is output, with "..." for any number of lines.
func abridges(shown, output string) bool {
	var pattern strings.Builder
	for line := range strings.Lines(shown) {
		if line == "...\n" {
			pattern.WriteString(`(?:.*\n)*`)
			continue
		}
		pattern.WriteString(regexp.QuoteMeta(line))
	}
	return regexp.MustCompile(`^` + pattern.String() + `$`).MatchString(output)
}

func TestAbridges(t *testing.T) {
	for _, test := range []struct {
		shown string
		want  bool
	}{
		{"a\nb\nc\n", true},
		{"a\n...\nc\n", true},
		{"...\nb\n...\n", true},
		{"a\nb\nc\n...\n", true},
		{"a\nb\n", false},
		{"a\nc\n", false},
		{"...\nd\n...\n", false},
		{"...\n.\n...\n", false},
	} {
		if got := abridges(test.shown, "a\nb\nc\n"); got != test.want {
			t.Errorf("%q: %t, want %t", test.shown, got, test.want)
		}
	}
}

// The pages show configuration that fence reads.
func TestDocumentedConfiguration(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(repository, "docs", "checks", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, filepath.Join(repository, "docs", "config.md"), filepath.Join(repository, "README.md")) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sections(string(data)) {
			for _, b := range s.blocks {
				if b.language != "yaml" {
					continue
				}
				if _, err := config.Parse(filepath.Base(page), []byte(b.text)); err != nil {
					t.Errorf("under %s: %v", s.heading, err)
				}
			}
		}
	}
}

// docs/config.md names every key of the schema.
func TestDocumentedKeys(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal([]byte(readFile(t, "docs", "fence.schema.json")), &schema); err != nil {
		t.Fatal(err)
	}
	page := readFile(t, "docs", "config.md")
	defs, _ := schema["$defs"].(map[string]any)
	var walk func(path string, node map[string]any)
	walk = func(path string, node map[string]any) {
		if ref, ok := node["$ref"].(string); ok {
			if def, ok := defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any); ok {
				walk(path, def)
			}
		}
		properties, _ := node["properties"].(map[string]any)
		for key, value := range properties {
			name := strings.TrimPrefix(path+"."+key, ".")
			if !strings.Contains(page, "`"+name+"`") {
				t.Errorf("docs/config.md does not name %s", name)
			}
			if value, ok := value.(map[string]any); ok {
				walk(name, value)
			}
		}
		for _, key := range []string{"items", "additionalProperties"} {
			if value, ok := node[key].(map[string]any); ok {
				walk(path, value)
			}
		}
		for _, key := range []string{"oneOf", "anyOf"} {
			values, _ := node[key].([]any)
			for _, value := range values {
				if value, ok := value.(map[string]any); ok {
					walk(path, value)
				}
			}
		}
	}
	walk("", schema)
}

var (
	link = regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	// Paths in CONTRIBUTING.md are quoted and start at the root.
	quotedPath = regexp.MustCompile("`((?:analyzers|cmd|docs|fencedb|internal|scripts|testdata|\\.ci)(?:/[\\w.]+)*)`")
)

// What pages point to is there.
func TestLinks(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(repository, "docs", "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", filepath.Join("docs", "config.md"), filepath.Join("docs", "formats.md")} {
		pages = append(pages, filepath.Join(repository, name))
	}
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			if strings.Contains(m[1], "://") || m[1] == "docs/precision.md" { // made by a field run
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s links to %s: %v", filepath.Base(page), m[1], err)
			}
		}
		if filepath.Base(page) != "CONTRIBUTING.md" {
			continue
		}
		for _, m := range quotedPath.FindAllStringSubmatch(string(data), -1) {
			if _, err := os.Stat(filepath.Join(repository, filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("CONTRIBUTING.md names %s: %v", m[1], err)
			}
		}
	}
}

// A claim in the documentation that names the test that holds it names one that exists.
func TestDocsNameTestsThatExist(t *testing.T) {
	defined := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w+)\(`)
	err := filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			defined[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(repository, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\b(?:Test|Benchmark|Fuzz)[A-Z]\w*`)
	n := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range named.FindAllString(string(text), -1) {
			n++
			if !defined[name] {
				t.Errorf("%s names %s, which does not exist", filepath.Base(page), name)
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d names of tests were found", n)
	}
}
