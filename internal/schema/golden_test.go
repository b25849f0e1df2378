package schema

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/sqlstmt"
)

var update = flag.Bool("update", false, "rewrite the want sections of testdata")

// TestGolden loads the files of each archive. The archive's comment names the
// dialect on its first line and the paths to load on its second; the rest says
// what the case is about. The section "want" is the result.
func TestGolden(t *testing.T) {
	here, err := filepath.Abs("testdata") // loading changes the directory
	if err != nil {
		t.Fatal(err)
	}
	archives, err := filepath.Glob(filepath.Join(here, "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	for _, file := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := loadArchive(t, a)
			last := len(a.Files) - 1
			if a.Files[last].Name != "want" {
				a.Files = append(a.Files, txtar.File{Name: "want"})
				last++
			}
			if *update {
				a.Files[last].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(a.Files[last].Data); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func loadArchive(t *testing.T, a *txtar.Archive) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range a.Files {
		if f.Name == "want" {
			continue
		}
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.SplitN(string(a.Comment), "\n", 3)
	dialect, err := sqlstmt.ParseDialect(lines[0])
	if err != nil && lines[0] != "unknown" {
		t.Fatal(err)
	}
	t.Chdir(dir)
	s, err := Load(strings.Fields(lines[1]), dialect)
	if err != nil {
		return err.Error() + "\n"
	}
	return show(s)
}

// show prints a schema so that a person can check it.
func show(s *Schema) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "dialect %s\n", s.Dialect)
	for _, t := range s.Tables {
		fmt.Fprintf(&b, "\ntable %s %s%s%s\n", name{t.Schema, t.Name}, t.Pos, flags(t.Strict, "strict"), directives(t.Directives))
		for _, c := range t.Columns {
			fmt.Fprintf(&b, "  %s %q %s%s%s%s", c.Name, c.Type, c.Pos, flags(c.NotNull, "notnull"), flags(c.HasDefault, "default"), flags(c.Generated, "generated"))
			if c.Base != c.Type {
				fmt.Fprintf(&b, " base=%q", c.Base)
			}
			if c.Labels != nil {
				fmt.Fprintf(&b, " enum %s%q", c.Enum, c.Labels)
			}
			fmt.Fprintf(&b, "%s\n", directives(c.Directives))
		}
		if t.PrimaryKey != nil {
			fmt.Fprintf(&b, "  primary key %s\n", strings.Join(t.PrimaryKey, ", "))
		}
		for _, u := range t.Uniques {
			fmt.Fprintf(&b, "  unique %s\n", strings.Join(u, ", "))
		}
		for _, tr := range t.Triggers {
			when := "after"
			if tr.Before {
				when = "before"
			}
			fmt.Fprintf(&b, "  trigger %s %s %s %s", tr.Name, tr.Pos, when, strings.Join(tr.Events, ","))
			if tr.UpdateOf != nil {
				fmt.Fprintf(&b, " of %s", strings.Join(tr.UpdateOf, ","))
			}
			fmt.Fprintf(&b, " when %q body %q\n", tr.When, tr.Body)
		}
	}
	if len(s.Notes) > 0 {
		fmt.Fprintln(&b)
	}
	for _, n := range s.Notes {
		fmt.Fprintf(&b, "note %s: %s\n", n.Pos, n.Text)
	}
	return b.String()
}

func flags(on bool, name string) string {
	if on {
		return " " + name
	}
	return ""
}

func directives(ds []config.Directive) string {
	var b strings.Builder
	for _, d := range ds {
		fmt.Fprintf(&b, " [%s%s@%d]", d.Verb, strings.TrimPrefix(fmt.Sprint(d.Options), "map"), d.Pos.Line)
	}
	return b.String()
}
