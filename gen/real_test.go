package gen_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/fencelint/fence/gen/emit"
	"github.com/fencelint/fence/gen/plan"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/schema"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// schemas are those that ship in programs people run.
var schemas = []struct {
	module, path string
	dialect      sqlstmt.Dialect
	tables       int // with a primary key
}{
	{"github.com/riverqueue/river/riverdriver/riverpgxv5@v0.51.2", "migration/main", sqlstmt.Postgres, 5},
	{"github.com/riverqueue/river/riverdriver/riversqlite@v0.51.2", "migration/main", sqlstmt.SQLite, 5},
	{"go.temporal.io/server@v1.31.0", "schema/postgresql/v12/temporal/schema.sql", sqlstmt.Postgres, 37},
	{"go.temporal.io/server@v1.31.0", "schema/postgresql/v12/visibility/schema.sql", sqlstmt.Postgres, 1},
	{"go.temporal.io/server@v1.31.0", "schema/mysql/v8/temporal/schema.sql", sqlstmt.MySQL, 37},
	{"go.temporal.io/server@v1.31.0", "schema/mysql/v8/visibility/schema.sql", sqlstmt.MySQL, 3},
	{"go.temporal.io/server@v1.31.0", "schema/sqlite/v3/temporal/schema.sql", sqlstmt.SQLite, 37},
	{"github.com/cschleiden/go-workflows@v1.2.0", "backend/mysql/db/migrations", sqlstmt.MySQL, 5},
	{"github.com/cschleiden/go-workflows@v1.2.0", "backend/sqlite/db/migrations", sqlstmt.SQLite, 5},
	{"github.com/dbos-inc/dbos-transact-golang@v1.8.0", "dbos/internal/sysdb/migrations/sqlite", sqlstmt.SQLite, 12},
	{"github.com/dbos-inc/dbos-transact-golang@v1.8.0", "dbos/internal/sysdb/migrations", sqlstmt.Postgres, 12},
	{"github.com/authzed/spicedb@v1.56.0", "internal/datastore/postgres/migrations", sqlstmt.Postgres, 8},
}

// TestRealSchemas reads the schemas, and compiles a writer for each of their tables that
// has a primary key.
func TestRealSchemas(t *testing.T) {
	dir := t.TempDir()
	var packages []string
	for i, s := range schemas {
		module := moduleDir(t, s.module)
		path := filepath.Join(module, filepath.FromSlash(s.path))
		if sql := goSQL(t, path); sql != "" {
			path = filepath.Join(t.TempDir(), "schema.sql")
			if err := os.WriteFile(path, []byte(sql), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		loaded, err := schema.Load([]string{path}, s.dialect)
		if err != nil {
			t.Errorf("%s %s: %v", s.module, s.path, err)
			continue
		}
		c := &config.Config{Dialect: s.dialect, Generate: &config.Generate{Package: fmt.Sprintf("p%d", i)}}
		without := 0
		for _, table := range loaded.Tables {
			if len(table.PrimaryKey) == 0 {
				without++
				continue
			}
			c.Tables = append(c.Tables, config.Table{Name: config.Name{Text: table.Name}, Protect: true})
		}
		p, err := plan.Make(c, loaded)
		if err != nil {
			t.Errorf("%s %s:\n%v", s.module, s.path, err)
			continue
		}
		if len(p.Tables) != s.tables {
			t.Errorf("%s %s: %d tables with a primary key, want %d", s.module, s.path, len(p.Tables), s.tables)
		}
		t.Logf("%s %s: %d tables with a primary key, %d without", s.module, s.path, len(p.Tables), without)
		packages = append(packages, write(t, dir, p))
	}
	compile(t, dir, packages)
}

// goSQL are the statements that change tables in the constants of the Go files of a
// directory, in order: some programs keep their migrations there.
func goSQL(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*migration*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && ddl.MatchString(text) {
					text = strings.ReplaceAll(text, "%s", "chosen_at_run_time")
					b.WriteString(strings.TrimSuffix(strings.TrimSpace(text), ";") + ";\n")
				}
			}
			return true
		})
	}
	return b.String()
}

var ddl = regexp.MustCompile(`^\s*(CREATE|ALTER|DROP) `)

// moduleDir is a module's directory in the cache.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.Command("go", "mod", "download", "-json", module).Output()
	var m struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &m); jsonErr != nil || m.Dir == "" {
		t.Skipf("%s cannot be downloaded (%v %s), so its schema is not read; go mod download %s", module, err, m.Error, module)
	}
	return m.Dir
}

// write writes a generated package below dir.
func write(t *testing.T, dir string, p *plan.Package) string {
	t.Helper()
	files, err := emit.Files(p)
	if err != nil {
		t.Fatal(err)
	}
	pkg := filepath.Join(dir, p.Name)
	if err := os.MkdirAll(pkg, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(pkg, f.Name), f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return "./" + p.Name
}

// compile compiles packages below dir, in a module of their own that takes fencedb from
// this repository.
func compile(t *testing.T, dir string, packages []string) {
	t.Helper()
	store := filepath.Join("..", "fencedb", "storetest")
	abs, err := filepath.Abs(filepath.Join("..", "fencedb"))
	if err != nil {
		t.Fatal(err)
	}
	var driver string
	mod, err := os.ReadFile(filepath.Join(store, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mod)) {
		if strings.Contains(line, "go-sql-driver/mysql") || strings.Contains(line, "filippo.io/edwards25519") {
			driver += line
		}
	}
	sum, err := os.ReadFile(filepath.Join(store, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	text := "module example.com/real\n\ngo 1.25.0\n\nrequire (\n\tgithub.com/fencelint/fence/fencedb v0.0.0\n" + driver + ")\n\nreplace github.com/fencelint/fence/fencedb => " + abs + "\n"
	for name, data := range map[string][]byte{"go.mod": []byte(text), "go.sum": sum} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", append([]string{"vet"}, packages...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the generated packages: %v\n%s", err, out)
	}
}
