package sqlstmt

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// golden is one case of a file in testdata:
//
//	=== dialect [style] what it shows
//	the text, with □ for a hole
//	---
//	what Parse makes of it
type golden struct {
	head, text, want string
}

func readGolden(tb testing.TB, file string) []golden {
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	var out []golden
	for i, c := range strings.Split("\n"+string(data), "\n=== ") {
		if i == 0 {
			continue
		}
		head, rest, _ := strings.Cut(c, "\n")
		text, want, _ := strings.Cut(rest+"\n", "\n---\n")
		out = append(out, golden{head, strings.TrimSuffix(text, "\n"), strings.TrimSpace(want)})
	}
	return out
}

// allGolden is the cases of all files.
func allGolden(tb testing.TB) []golden {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		tb.Fatal("no golden files", err)
	}
	var out []golden
	for _, f := range files {
		out = append(out, readGolden(tb, f)...)
	}
	return out
}

func (g golden) parse(tb testing.TB) Script {
	words := strings.Fields(g.head)
	d := Unknown
	if words[0] != "unknown" {
		var err error
		if d, err = ParseDialect(words[0]); err != nil {
			tb.Fatal(err)
		}
	}
	styles := map[string]Style{"[question]": Question, "[named]": Named}
	style := Native
	if len(words) > 1 {
		style = styles[words[1]]
	}
	return Parse(g.sql(), d, Options{Placeholders: style})
}

func (g golden) sql() string { return strings.ReplaceAll(g.text, testHole, Hole) }

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var b bytes.Buffer
			for _, g := range readGolden(t, file) {
				got := strings.TrimSpace(dump(g.parse(t)))
				fmt.Fprintf(&b, "=== %s\n%s\n---\n%s\n\n", g.head, g.text, got)
				if got != g.want && !*update {
					t.Errorf("%s\n%s\ngot:\n%s\nwant:\n%s", g.head, g.text, got, g.want)
				}
			}
			if *update {
				if err := os.WriteFile(file, append(bytes.TrimRight(b.Bytes(), "\n"), '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
