package config

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the want sections of testdata")

// TestParse reads archives of pairs: x.yaml and x.want, which is the text of the
// errors or, for a file that is accepted, the configuration as JSON.
func TestParse(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	for _, file := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			checkPairs(t, a)
			if *update {
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func checkPairs(t *testing.T, a *txtar.Archive) {
	t.Helper()
	want := map[string]string{}
	var inputs []txtar.File
	for _, f := range a.Files {
		if name, ok := strings.CutSuffix(f.Name, ".want"); ok {
			want[name] = string(f.Data)
			continue
		}
		inputs = append(inputs, f)
	}
	a.Files = nil
	for _, f := range inputs {
		name := strings.TrimSuffix(f.Name, ".yaml")
		got := verdict(f.Data)
		if got != want[name] && !*update {
			t.Errorf("%s: got:\n%s\nwant:\n%s", name, got, want[name])
		}
		a.Files = append(a.Files, f, txtar.File{Name: name + ".want", Data: []byte(got)})
	}
}

func verdict(data []byte) string {
	c, err := Parse(FileName, data)
	if err != nil {
		return err.Error() + "\n"
	}
	text, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err.Error() + "\n"
	}
	return string(text) + "\n"
}

// TestParseRaw has the inputs that an archive of text cannot hold.
func TestParseRaw(t *testing.T) {
	for _, test := range []struct{ name, input, want string }{
		{"empty", "", ""},
		{"comments", "# nothing\n", ""},
		{"bare document", "---\n", ""},
		{"byte order mark", "\ufeffstrict: true\n", ""},
		{"CRLF", "version: 1\r\nstrict: true\r\n", ""},
		{"CR", "version: 1\rtables: x\r", "fence.yaml:2:1: tables: want a mapping, got a string"},
		{"not UTF-8", "version: 1\nx: \xff\n", "fence.yaml:2:4: not UTF-8: save the file as UTF-8"},
		{"NUL", "version: 1\x00\n", "fence.yaml:1:1: not YAML: control characters are not allowed"},
		{"too large", strings.Repeat("# x\n", maxFile/4+1), "fence.yaml:1:1: the file has 1048580 bytes, more than the 1048576 that are read"},
		{"nested lists", "tables: " + strings.Repeat("[", 20_000), "fence.yaml:1:1: not YAML: exceeded max depth of 10000: nothing here nests deeper than four levels"},
		{"nested mappings", "tables: " + strings.Repeat("{a: ", 20_000), "fence.yaml:1:1: not YAML: exceeded max depth of 10000: nothing here nests deeper than four levels"},
		{"closed nesting", "tables: {a: {fence: " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "}}", "fence.yaml:1:21: tables: a: fence: want a string, got a list"},
		{"wide characters", "tables: {é: {fence: 1}}", `fence.yaml:1:22: tables: é: fence: want a string, got an integer: write "1"`},
		{"control character", "tokens: [\"a/b.T\\n\"]", `fence.yaml:1:10: tokens: "a/b.T\n" has blanks around it: remove them`},
		{"alias bomb", "tables: &a [x, x]\nguards: &b [*a, *a]\nopen: [*b, *b]\n", "fence.yaml:1:9: anchor &a is not read: write the value out where it is used\n" +
			"fence.yaml:2:9: anchor &b is not read: write the value out where it is used\n" +
			"fence.yaml:3:1: unknown key \"open\": known keys: version, dialect, schema, fence_columns, tables, guards, writers, resources, tokens, grants, leases, effects, checks, strict, exclude, analyze, generate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse(FileName, []byte(test.input))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}
