package schema

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/fencelint/fence/internal/sqlstmt"
)

// readText is Load of one file with the given text.
func readText(text string, d sqlstmt.Dialect) *reader {
	r := &reader{dialect: d, votes: map[sqlstmt.Dialect]bool{}}
	r.read("f.sql", []byte(text))
	return r
}

// FuzzLoad: never a panic, the same result twice, and every position in the
// file.
func FuzzLoad(f *testing.F) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archives {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			if isSQL(file.Name) {
				f.Add(string(file.Data))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := 1 + strings.Count(text, "\n")
		for _, d := range []sqlstmt.Dialect{sqlstmt.Unknown, sqlstmt.Postgres, sqlstmt.SQLite, sqlstmt.MySQL, sqlstmt.MariaDB} {
			r := readText(text, d)
			s := &Schema{Dialect: r.understood(), Tables: r.schema(), Notes: r.notes}
			again := readText(text, d)
			if got := show(&Schema{Dialect: again.understood(), Tables: again.schema(), Notes: again.notes}); got != show(s) {
				t.Errorf("%s: two results:\n%s\n%s", d, got, show(s))
			}
			for _, e := range r.errs {
				if e.Pos.Line < 1 || e.Pos.Line > lines {
					t.Errorf("%v", e)
				}
			}
			for _, table := range s.Tables {
				for _, c := range table.Columns {
					if c.Pos.Line < 1 || c.Pos.Line > lines || c.Pos.Column < 1 {
						t.Errorf("%s.%s: %v", table.Name, c.Name, c.Pos)
					}
				}
			}
		}
	})
}
