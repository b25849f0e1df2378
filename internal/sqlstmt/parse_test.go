package sqlstmt

import (
	"reflect"
	"strings"
	"sync"
	"testing"
)

func TestRefused(t *testing.T) {
	nest := func(n int) string { return "SELECT " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) }
	cases := func(n int) string {
		return "SELECT " + strings.Repeat("CASE WHEN a THEN ", n) + "1" + strings.Repeat(" END", n)
	}
	for _, c := range []struct {
		name, text, err string
		d               Dialect
	}{
		{"too long", "SELECT '" + strings.Repeat("x", maxText) + "'", "longer than 64 KiB", Postgres},
		{"too deep", nest(maxDepth + 1), "nested deeper than 200", Postgres},
		{"too deep in SQLite", nest(maxDepth + 1), "nested deeper than 200", SQLite},
		{"too deep by CASE", cases(maxDepth + 1), "nested deeper than 200", Postgres},
		{"far too deep", nest(20000), "nested deeper than 200", Postgres},
		{"many brackets, none deep", "SELECT " + strings.Repeat("(1) + ", 300) + "1", "", Postgres},
		{"brackets in a string", "SELECT '" + strings.Repeat("(", 300) + "'", "", SQLite},
		{"as deep as allowed", nest(maxDepth - 10), "", Postgres},
		{"NUL", "UPDATE t SET a = 1\x00 WHERE b = 2", "NUL", Postgres},
		{"NUL in SQLite", "UPDATE t SET a = 1\x00 WHERE b = 2", "NUL", SQLite},
		{"invalid UTF-8", "SELECT '\xff'", "UTF-8", Postgres},
		{"MySQL", "SELECT 1", "mysql is not supported yet", MySQL},
		{"MariaDB", "DELETE FROM t RETURNING id", "mariadb is not supported yet", MariaDB},
		{"too many holes", "SELECT " + strings.Repeat(Hole+" + ", maxHoles) + Hole, "too many holes", Postgres},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Parse(c.text, c.d, Options{})
			if c.err == "" && s.Err != "" || !strings.Contains(s.Err, c.err) {
				t.Errorf("Err = %q, want %q", s.Err, c.err)
			}
			if c.err == "" && len(s.Stmts) != 1 {
				t.Errorf("%d statements, want 1", len(s.Stmts))
			}
		})
	}
}

// A MERGE, an upsert or whatever the parser does not know yet is unknown, never
// half of something else.
func TestUnknownSyntax(t *testing.T) {
	for d, texts := range map[Dialect][]string{
		Postgres: {
			"INSERT INTO t VALUES (1) ON CONFLICT (id) DO SELECT FOR UPDATE RETURNING *",
			"UPDATE t FOR PORTION OF p FROM 1 TO 2 SET a = 1",
			"REPLACE INTO t VALUES (1)",
			"INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1",
			"\\copy t FROM 'x'",
			"UPDATE t SET a = %s WHERE b = %s",
		},
		SQLite: {"MERGE INTO t USING u ON 1 WHEN MATCHED THEN DELETE", "TRUNCATE t", "SELECT * FROM t FOR UPDATE"},
	} {
		for _, text := range texts {
			s := Parse(text, d, Options{})
			if s.Err == "" || len(s.Stmts) != 1 || s.Stmts[0].Op != OpUnknown || len(s.Stmts[0].Writes) > 0 {
				t.Errorf("%v %s: %s", d, text, dump(s))
			}
		}
	}
}

func TestUnknownDialect(t *testing.T) {
	for text, want := range map[string]Dialect{
		"SELECT 1 FOR UPDATE":            Postgres,
		"INSERT OR IGNORE INTO t SELECT": Unknown, // neither
		"REPLACE INTO t VALUES (?)":      SQLite,
	} {
		if got := Parse(text, Unknown, Options{}).Dialect; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestLongScript(t *testing.T) {
	text := strings.Repeat("UPDATE t SET a = 1 WHERE b = 2;\n", 1000)
	for _, d := range []Dialect{Postgres, SQLite} {
		if s := Parse(text, d, Options{}); s.Err != "" || len(s.Stmts) != 1000 {
			t.Errorf("%v: %d statements, %s", d, len(s.Stmts), s.Err)
		}
		s := Parse(text+"FROB;"+text, d, Options{})
		if len(s.Stmts) != 2001 || s.Err == "" || s.Stmts[1000].Op != OpUnknown || s.Stmts[2000].Op != Update {
			t.Errorf("%v: %d statements, %s", d, len(s.Stmts), s.Err)
		}
	}
}

// Chains and nestings within the caps must not cost more than they are long.
func TestChains(t *testing.T) {
	repeat := func(head, part, tail string) string {
		return head + strings.Repeat(part, (maxText-len(head)-len(tail))/len(part)) + tail
	}
	for name, text := range map[string]string{
		"or":     repeat("SELECT 1 FROM t WHERE a = 1", " OR a=1", ""),
		"and":    repeat("SELECT 1 FROM t WHERE a = 1", " AND a=1", ""),
		"not":    repeat("SELECT 1 FROM t WHERE ", "NOT ", "a"),
		"minus":  repeat("SELECT ", "- ", "1"),
		"plus":   repeat("SELECT 1", "+1", ""),
		"union":  repeat("SELECT 1", " UNION SELECT 1", ""),
		"calls":  repeat("SELECT 1", ",f()", ""),
		"ctes":   repeat("WITH a AS (SELECT 1)", ",a AS(SELECT 1)", " SELECT 1"),
		"joins":  repeat("SELECT 1 FROM t", " JOIN t ON a=1", ""),
		"values": repeat("INSERT INTO t VALUES (1)", ",(1)", ""),
		"broken": repeat("SELECT 1", ";x", ""),
		"quotes": repeat("SELECT 1", "'x", ""),
		"holes":  repeat("SELECT 1", "\n"+Hole, ""),
		"tails":  repeat("", "UPDATE t SET a = 1 "+Hole+";", ""),
		"in":     repeat("SELECT 1 FROM t WHERE a IN (1", ",1", ")"),
		"case":   repeat("SELECT CASE", " WHEN a THEN 1", " END"),
	} {
		for _, d := range []Dialect{Postgres, SQLite} {
			t.Run(name+"/"+d.String(), func(*testing.T) { Parse(text, d, Options{}) })
		}
	}
}

func TestConcurrent(t *testing.T) {
	golden := readGolden(t, "testdata/postgres.txt")
	golden = append(golden, readGolden(t, "testdata/holes.txt")...)
	golden = append(golden, readGolden(t, "testdata/sqlite.txt")...)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, g := range golden {
				if got := strings.TrimSpace(dump(g.parse(t))); got != g.want {
					t.Errorf("%s: %s", g.head, got)
				}
			}
		})
	}
	wg.Wait()
}

// A text means the same whatever its blanks and comments are.
func TestBlanksDoNotMatter(t *testing.T) {
	for _, file := range []string{"testdata/postgres.txt", "testdata/sqlite.txt", "testdata/placeholders.txt", "testdata/holes.txt"} {
		for _, g := range readGolden(t, file) {
			if strings.ContainsAny(g.text, "'\"$-:@?") {
				continue // a blank could fall into a literal or split a token
			}
			spaced := g
			spaced.text = strings.ReplaceAll(g.text, " ", " /* ; */\n ")
			if got, want := dump(spaced.parse(t)), dump(g.parse(t)); got != want {
				t.Errorf("%s\n%s\ngot %s\nwant %s", g.head, spaced.text, got, want)
			}
		}
	}
}

func FuzzParsePostgres(f *testing.F) {
	fuzz(f, Postgres, "testdata/postgres.txt", "testdata/placeholders.txt")
}

func FuzzParseSQLite(f *testing.F) {
	fuzz(f, SQLite, "testdata/sqlite.txt", "testdata/placeholders.txt")
}

func fuzz(f *testing.F, d Dialect, files ...string) {
	for _, file := range files {
		for _, g := range readGolden(f, file) {
			f.Add(g.text, byte(Native))
			f.Add(g.text, byte(Named))
		}
	}
	f.Fuzz(func(t *testing.T, text string, style byte) {
		check(t, text, d, Style(style%3))
	})
}

// FuzzHoles puts holes at two places of a text.
func FuzzHoles(f *testing.F) {
	for _, file := range []string{"testdata/postgres.txt", "testdata/sqlite.txt", "testdata/holes.txt"} {
		for _, g := range readGolden(f, file) {
			f.Add(g.sql(), uint16(7), uint16(20))
		}
	}
	f.Fuzz(func(t *testing.T, text string, a, b uint16) {
		for _, at := range []uint16{a, b} {
			i := int(at) % (len(text) + 1)
			text = text[:i] + Hole + text[i:]
		}
		for d := range engines {
			check(t, text, d, Question)
		}
	})
}

// check parses twice and looks at what must hold of every result.
func check(t *testing.T, text string, d Dialect, style Style) {
	s := Parse(text, d, Options{style})
	if again := Parse(text, d, Options{style}); !reflect.DeepEqual(s, again) {
		t.Fatalf("not the same twice:\n%s\n%s", dump(s), dump(again))
	}
	if strings.Contains(s.Err, "its tree") || strings.Contains(s.Err, "the parser failed") {
		t.Fatal(s.Err)
	}
	for _, st := range s.Stmts {
		if st.Op == OpUnknown && (s.Err == "" || len(st.Unknown) == 0 || len(st.Writes) > 0) {
			t.Fatalf("an unknown statement without a reason:\n%s", dump(s))
		}
		for _, w := range st.Writes {
			if w.Op == OpUnknown || w.Table.Name == "" && d != SQLite { // which has a table ""
				t.Fatalf("a write of nothing:\n%s", dump(s))
			}
			if strings.Contains(w.Table.Name, Hole) && !w.Table.Dynamic {
				t.Fatalf("a hole taken for a name:\n%s", dump(s))
			}
		}
	}
	dump(s)
}
