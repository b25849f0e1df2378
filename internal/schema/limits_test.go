package schema

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fencelint/fence/internal/sqlstmt"
)

func TestLimits(t *testing.T) {
	for _, test := range []struct{ name, text, note string }{
		{"long statement", "create table a (" + strings.Repeat("x int, ", maxStatement/7) + "y int);", "1:1: statement skipped: it has 65556 bytes, more than the 65536 that are read"},
		{"nesting", "create table a (x int default " + strings.Repeat("(", 10_000) + "1" + strings.Repeat(")", 10_000) + ");", "1:1: statement skipped: parentheses nested deeper than 200"},
		{"UTF-16", "\xff\xfec\x00r\x00", "1:1: file skipped: it is UTF-16; save it as UTF-8"},
		{"inserts", strings.Repeat("insert into a values (1);\n", 5), "1:1: INSERT skipped (5 statements)"},
		{"stray bracket", ");", "1:1: not a statement"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := readText(test.text+"\ncreate table after (id int);", sqlstmt.Postgres)
			if len(r.notes) == 0 || r.notes[0].Pos.String()+": "+r.notes[0].Text != "f.sql:"+test.note {
				t.Errorf("notes %v, want %s", r.notes, test.note)
			}
			if test.name != "UTF-16" && len(r.tables) != 1 {
				t.Errorf("%d tables: the statement after it is lost", len(r.tables))
			}
		})
	}
}

func TestLargeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.sql")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, maxFile+2); err != nil {
		t.Fatal(err)
	}
	s, err := Load([]string{path}, sqlstmt.Postgres)
	if err != nil || len(s.Notes) != 1 || !strings.HasPrefix(s.Notes[0].Text, "file skipped: it has more than the") {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestOtherEncodings(t *testing.T) {
	r := readText("\ufeffcreate table a (x int); -- na\xefve\ncreate table b (\x00x int);", sqlstmt.Unknown)
	if len(r.tables) != 2 || len(r.notes) != 0 {
		t.Errorf("%d tables, notes %v", len(r.tables), r.notes)
	}
	if p := r.tables[1].Pos; p.Line != 2 || p.Column != 1 {
		t.Errorf("position %v", p)
	}
}

// TestSlowInputs has inputs that take a naive reader minutes.
func TestSlowInputs(t *testing.T) {
	const size = 1 << 20
	fill := func(piece string) string { return strings.Repeat(piece, size/len(piece)) }
	for name, text := range map[string]string{
		"dollars": fill("$a "), "quotes": fill("''"), "open comments": fill("/*"), "comments": fill("-- x\n"), "semicolons": fill(";"),
		"tables": fill("create table a (id int);\n"), "backslashes": fill("\\x\n"), "alters": "create table a (id int);" + fill("alter table a add b int;\n"),
		"runnable comments": fill("/*!50000 "), "skipped comments": fill("/*!99999 "), "delimiters": fill("delimiter //\n"), "ends": fill("begin end if;\n"),
		"collations": fill("create table a (b int collate x1, c uuid);\n"), "row bodies": "create trigger " + fill("for each row "),
		"directives": fill("-- fence:token\n"), "partitions": "create table p (id int) partition by hash (id);" + fill("create table p1 partition of p default;\n"),
	} {
		for _, d := range []sqlstmt.Dialect{sqlstmt.Unknown, sqlstmt.MariaDB} {
			start := time.Now()
			readText(text, d)
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("%s in %s took %v", name, d, took)
			} else {
				t.Logf("%s in %s took %v", name, d, took)
			}
		}
	}
}

func TestLoadTwice(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.sql")
	if err := os.WriteFile(path, []byte("create table a (id int);"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Load([]string{path, dir, filepath.Join(dir, ".", "a.sql")}, sqlstmt.Postgres)
	if err != nil || len(s.Tables) != 1 || len(s.Notes) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}
