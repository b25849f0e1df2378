package sqlstmt

import (
	"reflect"
	"strings"
	"sync"
	"testing"
)

func TestRefused(t *testing.T) {
	repeat := func(head, middle, tail string, n int) string {
		return strings.Repeat(head, n) + middle + strings.Repeat(tail, n)
	}
	nest := func(n int) string { return "SELECT " + repeat("(", "1", ")", n) }
	cases := func(n int) string { return "SELECT " + repeat("CASE WHEN a THEN ", "1", " END", n) }
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
		{"too long for MySQL", "SELECT '" + strings.Repeat("x", maxText) + "'", "longer than 64 KiB", MySQL},
		{"too deep in MySQL", nest(maxDepth + 1), "nested deeper than 200", MySQL},
		{"NUL in MySQL", "UPDATE t SET a = 1\x00 WHERE b = 2", "NUL", MySQL},
		{"brackets in a string of MySQL", `SELECT 1 AS "\"` + strings.Repeat("(", 300) + `"`, "", MySQL},
		{"doubled brackets", "SELECT " + repeat("((SELECT ", "1", ") UNION (SELECT 2))", 7), "more than 6 doubled", MySQL},
		{"doubled brackets, few", "SELECT " + repeat("((SELECT ", "1", ") UNION (SELECT 2))", 6), "", MySQL},
		{"doubled brackets of FROM", "SELECT * FROM " + repeat("((SELECT * FROM ", "t", ") a)", 30), "more than 6 doubled", MariaDB},
		{"doubled brackets around a value", "SELECT " + repeat("((", "1", "))", 50), "", MySQL},
		{"INTERVALs", "SELECT 1" + repeat(" + INTERVAL (1", "", ", 2)", 30), "INTERVALs", MySQL},
		{"INTERVALs without brackets", "SELECT 1" + repeat(" + INTERVAL 1", "", "", 30), "INTERVALs", MySQL},
		{"INTERVALs one after the other", "SELECT 1" + repeat(" + INTERVAL 1 DAY", "", "", 30), "", MySQL},
		{"JSON_VALUEs", "SELECT " + repeat("JSON_VALUE(", "1", ", '$')", 30), "more than 6", MySQL},
		{"a long number", "SELECT " + strings.Repeat("1", 66) + ".5", "more than 65 digits", MySQL},
		{"a number as long as allowed", "SELECT " + strings.Repeat("1", 64) + ".5", "", MySQL},
		{"no such dialect", "SELECT 1", "no such dialect", Dialect(9)},
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
		MySQL: {
			"DELETE FROM t WHERE a = 1 RETURNING id",
			"DELETE HISTORY FROM t",
			"MERGE INTO t USING u ON 1 WHEN MATCHED THEN DELETE",
			"INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING",
			"UPDATE t SET a = 1 /*! WHERE b = 2",
			"IMPORT INTO t FROM 'x'",
			"UPDATE `` SET a = 1",
			"DELIMITER //",
		},
		MariaDB: {
			"UPDATE t FOR PORTION OF p FROM 1 TO 2 SET a = 1",
			"DELETE FROM t RETURNING a FROM t",
			"ANALYZE DELETE FROM t",
		},
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
		"SELECT 1 FOR UPDATE":             Postgres,
		"INSERT OR IGNORE INTO t SELECT":  Unknown, // neither
		"REPLACE INTO t VALUES (?)":       SQLite,
		"SELECT 1 LOCK IN SHARE MODE":     MySQL,
		"REPLACE t SET a = 1":             MySQL,
		"REPLACE t SET a = 1 RETURNING a": MariaDB,
	} {
		if got := Parse(text, Unknown, Options{}).Dialect; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestLongScript(t *testing.T) {
	text := strings.Repeat("UPDATE t SET a = 1 WHERE b = 2;\n", 1000)
	for d := range engines {
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
		for d := range engines {
			t.Run(name+"/"+d.String(), func(*testing.T) { Parse(text, d, Options{}) })
		}
	}
}

func TestConcurrent(t *testing.T) {
	golden := allGolden(t)
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
	for _, g := range allGolden(t) {
		if strings.ContainsAny(g.text, "'\"$-:@?#`") || strings.Contains(g.text, "/*") {
			continue // a blank could fall into a literal or split a token
		}
		spaced := g
		spaced.text = strings.ReplaceAll(g.text, " ", " /* ; */\n ")
		got, want := spaced.parse(t), g.parse(t)
		if got.Err != "" && want.Err != "" { // which may quote the text
			got.Err = want.Err
		}
		if dump(got) != dump(want) {
			t.Errorf("%s\n%s\ngot %s\nwant %s", g.head, spaced.text, dump(got), dump(want))
		}
	}
}

func FuzzParsePostgres(f *testing.F) {
	fuzz(f, Postgres, "testdata/postgres.txt", "testdata/placeholders.txt")
}

func FuzzParseSQLite(f *testing.F) {
	fuzz(f, SQLite, "testdata/sqlite.txt", "testdata/placeholders.txt")
}

func FuzzParseMySQL(f *testing.F) {
	fuzz(f, MySQL, "testdata/mysql.txt", "testdata/mariadb.txt", "testdata/placeholders.txt")
}

func FuzzParseMariaDB(f *testing.F) {
	fuzz(f, MariaDB, "testdata/mariadb.txt", "testdata/mysql.txt")
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
	for _, g := range allGolden(f) {
		f.Add(g.sql(), uint16(7), uint16(20))
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
	// A comment that is none makes the scanner see to it that the parser reads what
	// it would have read anyway.
	if (d == MySQL || d == MariaDB) && s.Err == "" && len(text) < maxText-len("/*!*/") {
		if again := Parse("/*!*/"+text, d, Options{style}); dump(s) != dump(again) {
			t.Fatalf("the scanner and the parser differ:\n%s\n%s", dump(s), dump(again))
		}
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
