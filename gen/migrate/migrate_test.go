package migrate_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/fencelint/fence/gen/migrate"
	"github.com/fencelint/fence/gen/plan"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/schema"
	"github.com/fencelint/fence/internal/sqlstmt"
)

var update = flag.Bool("update", false, "rewrite testdata")

func each(t *testing.T, test func(t *testing.T, d sqlstmt.Dialect, f migrate.Format)) {
	for _, d := range dialects {
		for _, f := range formats {
			t.Run(d.String()+"/"+string(f), func(t *testing.T) { test(t, d, f) })
		}
	}
}

func TestGolden(t *testing.T) {
	each(t, func(t *testing.T, d sqlstmt.Dialect, f migrate.Format) {
		_, files := newProject(t, d, named(yaml, ""), first(f, named(base, ""))).mustPlan()
		var a txtar.Archive
		for _, f := range files {
			a.Files = append(a.Files, txtar.File{Name: f.Name, Data: f.Data})
		}
		golden := filepath.Join("testdata", d.String()+"_"+string(f)+".txtar")
		got := txtar.Format(&a)
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("got:\n%s\nwant:\n%s", got, want)
		}
	})
}

// Once a migration has been written, nothing is missing any more, and the schema is what
// the plan was made for.
func TestNothingMissingAfterwards(t *testing.T) {
	each(t, func(t *testing.T, d sqlstmt.Dialect, f migrate.Format) {
		p := newProject(t, d, named(yaml, ""), first(f, named(base, "")))
		before, files := p.mustPlan()
		if len(files) == 0 {
			t.Fatal("no migration")
		}
		p.write(files...)
		s := p.schema()
		if missing := migrate.Missing(p.config, s); len(missing) > 0 {
			t.Errorf("still missing: %v", missing)
		}
		after, files := p.mustPlan()
		for _, f := range files {
			t.Errorf("still a migration %s:\n%s", f.Name, f.Data)
		}
		if before.Tables[0].Explain() != after.Tables[0].Explain() {
			t.Errorf("other statements than before the migration:\n%s\nand\n%s", before.Tables[0].Explain(), after.Tables[0].Explain())
		}
	})
}

// Only what is missing is made, also when that is one trigger of two.
func TestOnlyWhatIsMissing(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.String(), func(t *testing.T) {
			p := newProject(t, d, named(yaml, ""), first(migrate.Plain, named(base, "")))
			_, files := p.mustPlan()
			p.write(files...)
			s := p.schema()
			pkg, err := plan.Make(p.config, s)
			if err != nil {
				t.Fatal(err)
			}
			kept := s.Table("", "items").Triggers
			s.Table("", "items").Triggers = kept[1:]
			files, err = migrate.Plan(pkg, s, migrate.Goose, nil)
			if err != nil {
				t.Fatal(err)
			}
			text := string(files[0].Data)
			if n := strings.Count(text, "CREATE TRIGGER"); n != 1 || !strings.Contains(text, kept[0].Name) {
				t.Errorf("%d triggers, want only %s:\n%s", n, kept[0].Name, text)
			}
			if strings.Contains(text, "ADD COLUMN") || strings.Contains(text, "CREATE TABLE") {
				t.Errorf("more than the trigger:\n%s", text)
			}
		})
	}
}

// The same twice, byte for byte.
func TestDeterministic(t *testing.T) {
	each(t, func(t *testing.T, d sqlstmt.Dialect, f migrate.Format) {
		_, one := newProject(t, d, named(yaml, ""), first(f, named(base, ""))).mustPlan()
		_, two := newProject(t, d, named(yaml, ""), first(f, named(base, ""))).mustPlan()
		if fmt.Sprint(one) != fmt.Sprint(two) {
			t.Error("two runs differ")
		}
	})
}

// A table that compares for equality, or on a guard row, has no trigger of ours.
func TestNoTriggers(t *testing.T) {
	p := newProject(t, sqlstmt.Postgres, `version: 1
tables:
  orders: {fence: epoch, rule: equal, enforced: trigger}
`, map[string]string{"schema.sql": "CREATE TABLE orders (id bigint PRIMARY KEY, epoch bigint NOT NULL);"})
	if _, files := p.mustPlan(); len(files) > 0 {
		t.Errorf("a migration:\n%s", files[0].Data)
	}
}

// The schema of the tables may be known only when the program runs.
func TestSchemas(t *testing.T) {
	sql := "CREATE TABLE app.orders (id bigint PRIMARY KEY);"
	yaml := "version: 1\ntables:\n  app.orders: {fence: fence, enforced: trigger}\n"
	for _, c := range []struct{ generate, want string }{
		{"", `ON "app"."orders"`},
		{"generate: {package: db, dir: db, schema: runtime}\n", `ON "orders"`},
	} {
		_, files := newProject(t, sqlstmt.Postgres, yaml+c.generate, map[string]string{"schema.sql": sql}).mustPlan()
		if text := string(files[0].Data); !strings.Contains(text, c.want) {
			t.Errorf("%q is not in:\n%s", c.want, text)
		}
	}
}

func TestMissing(t *testing.T) {
	const table = "CREATE TABLE orders (id bigint PRIMARY KEY, epoch bigint NOT NULL);"
	for _, c := range []struct{ name, sql, entry, want string }{
		{"absent", table, "{fence: fence}", "[orders.fence bigint]"},
		{"there", table, "{fence: epoch}", "[]"},
		{"misspelt", table, "{fence: epohc}", "[]"},
		{"near, but usual", "CREATE TABLE orders (id bigint PRIMARY KEY, since bigint);", "{fence: fence}", "[orders.fence bigint]"},
		{"of no order", table, "{fence: attempt, rule: equal}", "[]"},
		{"on a guard row", "-- fence:protect guard=leases\n" + table, "{fence: fence}", "[]"},
		{"no table", "CREATE TABLE other (id bigint PRIMARY KEY);", "{fence: fence}", "[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, sqlstmt.Postgres, "version: 1\ntables:\n  orders: "+c.entry+"\n", map[string]string{"schema.sql": c.sql})
			s := p.schema()
			got := []string{}
			for _, m := range migrate.Missing(p.config, s) {
				got = append(got, m.Table+"."+m.Name+" "+m.Type)
			}
			if fmt.Sprint(got) != c.want {
				t.Errorf("got %v, want %s", got, c.want)
			}
			tables := slices.Clone(s.Tables)
			migrate.With(s, migrate.Missing(p.config, s))
			if !slices.Equal(tables, s.Tables) || s.Tables[0].Column("fence") != nil {
				t.Error("With has changed the schema it was given")
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name, sql, yaml string
		want            string
	}{
		{
			"guards of others",
			"CREATE TABLE orders (id bigint PRIMARY KEY);\nCREATE TABLE fence_guards (resource text PRIMARY KEY, epoch bigint);",
			"{protect: true}",
			"schema.sql:2:1: table fence_guards holds the guard rows of generated writers and has no column token",
		},
		{
			"a line break in a name",
			"CREATE TABLE orders (id bigint PRIMARY KEY, \"fe\nnce\" bigint NOT NULL -- fence:token\n);",
			"{protect: true}",
			`schema.sql:1:1: the name "fe\nnce" has a line break`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, sqlstmt.Postgres, "version: 1\ntables:\n  orders: "+c.yaml+"\n", map[string]string{"schema.sql": c.sql})
			_, _, err := p.plan()
			var all config.Errors
			if !errors.As(err, &all) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want a config.Errors with %q", err, c.want)
			}
		})
	}
	t.Run("another schema", func(t *testing.T) {
		p := newProject(t, sqlstmt.SQLite, "version: 1\ntables:\n  orders: {fence: fence}\n", map[string]string{"a.sql": "CREATE TABLE orders (id integer PRIMARY KEY, fence integer NOT NULL);"})
		pkg, _ := p.mustPlan()
		if _, err := migrate.Plan(pkg, &schema.Schema{}, migrate.Plain, nil); err == nil {
			t.Error("no error")
		}
		if _, err := migrate.Plan(pkg, p.schema(), "flyway", nil); err == nil || !strings.Contains(err.Error(), "golang-migrate") {
			t.Errorf("got %v, want the formats", err)
		}
	})
}

func TestNames(t *testing.T) {
	long := strings.Repeat("ö", 60)
	for _, c := range []struct {
		format   migrate.Format
		existing string
		want     string
	}{
		{migrate.Goose, "", "00001_fence.sql"},
		{migrate.Goose, "00001_a.sql 00009_b.sql 00002_c.sql", "00010_fence.sql"},
		{migrate.Goose, "9_a.sql 10_b.sql README.md", "11_fence.sql"},
		{migrate.Goose, "00001_a.sql 00002_b.go", "00003_fence.sql"},
		{migrate.Goose, "20240131235959_a.sql", "20240131235960_fence.sql"},
		{migrate.GolangMigrate, "", "000001_fence.up.sql 000001_fence.down.sql"},
		{migrate.GolangMigrate, "99_a.up.sql 99_a.down.sql", "100_fence.up.sql 100_fence.down.sql"},
		{migrate.Dbmate, "", "00000000000001_fence.sql"},
		{migrate.Plain, "", "fence.sql fence_down.sql.txt"},
		{migrate.Plain, "schema.sql", "schema_fence.sql schema_fence_down.sql.txt"},
		{migrate.Plain, "app.sql", "fence.sql fence_down.sql.txt"},
		{migrate.Plain, "app.sql fence.sql fence_down.sql.txt", "fence_2.sql fence_2_down.sql.txt"},
		{migrate.Plain, "fence.sql fence_2.sql fence_10.sql", "fence_11.sql fence_11_down.sql.txt"},
		{migrate.Plain, "schema.sql schema_fence.sql", "schema_fence_2.sql schema_fence_2_down.sql.txt"},
		{migrate.Plain, "01_a.sql 02_b.sql", "03_fence.sql 03_fence_down.sql.txt"},
	} {
		p := newProject(t, sqlstmt.SQLite, "version: 1\ntables:\n  orders: {fence: fence}\n",
			map[string]string{"schema.sql": "CREATE TABLE orders (id integer PRIMARY KEY);"})
		s := p.schema()
		pkg, err := plan.Make(p.config, migrate.With(s, migrate.Missing(p.config, s)))
		if err != nil {
			t.Fatal(err)
		}
		files, err := migrate.Plan(pkg, s, c.format, strings.Fields(c.existing))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files {
			got = append(got, f.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s after %q: got %v, want %s", c.format, c.existing, got, c.want)
		}
	}
	// Names of triggers are cut where a letter ends, and stay apart.
	seen := map[string]bool{}
	for _, table := range []string{long, long + "o", long + "ü"} {
		p := newProject(t, sqlstmt.SQLite, "version: 1\ntables:\n  "+table+": {fence: fence, enforced: trigger}\n",
			map[string]string{"schema.sql": "CREATE TABLE " + table + " (id integer PRIMARY KEY, fence integer NOT NULL);"})
		_, files := p.mustPlan()
		p.write(files...)
		for _, tr := range p.schema().Tables[0].Triggers {
			if len(tr.Name) > 63 || seen[tr.Name] || strings.ToValidUTF8(tr.Name, "") != tr.Name {
				t.Errorf("name %q", tr.Name)
			}
			seen[tr.Name] = true
		}
	}
	if len(seen) != 6 {
		t.Errorf("names %v", seen)
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  migrate.Format
		err   string
	}{
		{name: "goose", files: first(migrate.Goose, ""), want: migrate.Goose},
		{name: "goose in Go", files: map[string]string{"00001_a.go": "func init() { goose.AddMigrationContext(up, down) }"}, want: migrate.Goose},
		{name: "golang-migrate", files: first(migrate.GolangMigrate, ""), want: migrate.GolangMigrate},
		{name: "dbmate", files: first(migrate.Dbmate, ""), want: migrate.Dbmate},
		{name: "plain", files: first(migrate.Plain, base), want: migrate.Plain},
		{name: "empty", want: migrate.Plain},
		{name: "the newest counts", files: map[string]string{"1_a.up.sql": "", "2_b.sql": "--  +Goose Up\n"}, want: migrate.Goose},
		{name: "numbers", files: map[string]string{"9_a.sql": "-- +goose Up", "10_b.sql": "-- migrate:up"}, want: migrate.Dbmate},
		{name: "sql-migrate", files: map[string]string{"1.sql": "-- +migrate Up\n"}, err: "sql-migrate"},
		{name: "Flyway", files: map[string]string{"V1__init.sql": ""}, err: "Flyway"},
		{name: "tern", files: map[string]string{"001_a.sql": "x;\n---- create above / drop below ----\n"}, err: "tern"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, sqlstmt.SQLite, "version: 1\n", c.files)
			got, err := migrate.Detect(p.dir)
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %q, %v; want %q, %q", got, err, c.want, c.err)
			}
		})
	}
	if f, err := migrate.Detect(filepath.Join(t.TempDir(), "absent")); f != migrate.Plain || err != nil {
		t.Errorf("absent: got %q, %v", f, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := migrate.Detect(file); err == nil {
		t.Error("a file: no error")
	}
}

// The tables of guard rows are fencedb's, to the letter. fencedb is another module, which
// this one does not require, so the test reads its source.
func TestGuardsAreThoseOfFencedb(t *testing.T) {
	source, err := os.ReadFile("../../fencedb/guard.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dialects {
		_, files := newProject(t, d, "version: 1\ntables:\n  orders: {protect: true}\n",
			map[string]string{"a.sql": "CREATE TABLE orders (id bigint NOT NULL PRIMARY KEY);"}).mustPlan()
		text := string(files[0].Data)
		ddl := text[strings.Index(text, "CREATE TABLE"):strings.LastIndex(text, ";")]
		ddl = strings.NewReplacer(`"fence_guards"`, "@guards", "`fence_guards`", "@guards").Replace(ddl)
		if !strings.Contains(string(source), "`"+ddl+"`") {
			t.Errorf("%s: fencedb does not have\n%s", d, ddl)
		}
	}
}
