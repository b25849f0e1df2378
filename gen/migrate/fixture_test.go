package migrate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fencelint/fence/gen/migrate"
	"github.com/fencelint/fence/gen/plan"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/schema"
	"github.com/fencelint/fence/internal/sqlstmt"
)

var (
	dialects = []sqlstmt.Dialect{sqlstmt.Postgres, sqlstmt.MariaDB, sqlstmt.MySQL, sqlstmt.SQLite}
	formats  = []migrate.Format{migrate.Goose, migrate.GolangMigrate, migrate.Dbmate, migrate.Plain}
)

// base is a schema that lacks a fence column, the table of guard rows and every trigger.
// @ stands before the names of tables.
const base = `CREATE TABLE @orders (id bigint NOT NULL PRIMARY KEY, note varchar(20) NOT NULL);
CREATE TABLE @items (
	region varchar(20) NOT NULL,
	nr bigint NOT NULL,
	total bigint,
	epoch bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (region, nr)
);
CREATE TABLE @ledger (id bigint NOT NULL PRIMARY KEY, amount bigint NOT NULL);
`

const yaml = `version: 1
tables:
  @orders: {fence: fence, enforced: trigger}
  @items: {fence: epoch, enforced: trigger}
  @ledger: {guard: @fence_guards}
guards:
  @fence_guards: {resource: resource, token: token, grant: grant_id}
`

// first is the first migration of each format, which makes a schema, and what takes it
// back.
func first(f migrate.Format, sql string) map[string]string {
	switch f {
	case migrate.Goose:
		return map[string]string{"00001_init.sql": "-- +goose Up\n" + sql + "-- +goose Down\nDROP TABLE nothing;\n"}
	case migrate.GolangMigrate:
		return map[string]string{"000001_init.up.sql": sql, "000001_init.down.sql": "DROP TABLE nothing;\n"}
	case migrate.Dbmate:
		return map[string]string{"20240131235959_init.sql": "-- migrate:up\n" + sql + "-- migrate:down\nDROP TABLE nothing;\n"}
	}
	return map[string]string{"schema.sql": sql}
}

// project is a directory of migrations with a fence.yaml.
type project struct {
	t      *testing.T
	dir    string
	config *config.Config
}

func newProject(t *testing.T, d sqlstmt.Dialect, yaml string, files map[string]string) project {
	t.Helper()
	c, err := config.Parse("fence.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	c.Dialect = d
	p := project{t, t.TempDir(), c}
	for name, text := range files {
		p.write(migrate.File{Name: name, Data: []byte(text)})
	}
	return p
}

func (p project) write(files ...migrate.File) {
	p.t.Helper()
	for _, f := range files {
		path := filepath.Join(p.dir, f.Name)
		if _, err := os.Stat(path); err == nil {
			p.t.Fatalf("%s would be overwritten", f.Name)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p project) schema() *schema.Schema {
	p.t.Helper()
	s, err := schema.Load([]string{p.dir}, p.config.Dialect)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, n := range s.Notes {
		if !strings.Contains(n.Text, "SET skipped") && !strings.Contains(n.Text, "RESET skipped") && !strings.Contains(n.Text, "VARIABLE") {
			p.t.Errorf("%s: %s", n.Pos, n.Text)
		}
	}
	return s
}

func (p project) existing() []string {
	p.t.Helper()
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// plan is the plan of the project with the migration it needs.
func (p project) plan() (*plan.Package, []migrate.File, error) {
	p.t.Helper()
	s := p.schema()
	pkg, err := plan.Make(p.config, migrate.With(s, migrate.Missing(p.config, s)))
	if err != nil {
		return nil, nil, err
	}
	f, err := migrate.Detect(p.dir)
	if err != nil {
		return nil, nil, err
	}
	files, err := migrate.Plan(pkg, s, f, p.existing())
	return pkg, files, err
}

func (p project) mustPlan() (*plan.Package, []migrate.File) {
	p.t.Helper()
	pkg, files, err := p.plan()
	if err != nil {
		p.t.Fatal(err)
	}
	return pkg, files
}

func named(text, prefix string) string { return strings.ReplaceAll(text, "@", prefix) }
