// Package gen answers one question: which files does a fence.yaml generate, and which of
// them differ from those that are there?
//
// [Load] reads fence.yaml and the schema, [Result.Diff] compares, [Result.Write] writes.
// Nothing is written unless everything can be.
package gen

import (
	"cmp"
	"errors"
	"fmt"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fencelint/fence/gen/emit"
	"github.com/fencelint/fence/gen/migrate"
	"github.com/fencelint/fence/gen/plan"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/schema"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// Input is a fence.yaml, the schema it names, and the plan they make.
type Input struct {
	Config *config.Config
	Schema *schema.Schema // as it is there
	// Plan is what the writers do once Migrations have been applied.
	Plan *plan.Package
	// Migrations are what the schema lacks for it, by path; none unless fence.yaml names
	// their directory.
	Migrations []File
}

// A File is one that is generated.
type File struct {
	Path string
	Data []byte
}

// Read reads the fence.yaml at path and its schema, and plans its writers. Errors that
// are the user's to mend are a [config.Errors], with their places.
func Read(path string) (*Input, error) {
	c, err := config.Load(path)
	if err != nil {
		return nil, err
	}
	return read(c)
}

func read(c *config.Config) (*Input, error) {
	dir := migrationsDir(c)
	paths, err := schemaPaths(c, dir)
	if err != nil {
		return nil, err
	}
	s, err := schema.Load(paths, c.Dialect)
	if err != nil {
		return nil, err
	}
	if err := otherDialect(c, s, paths); err != nil {
		return nil, err
	}
	if dir == "" {
		p, err := plan.Make(c, s)
		if err != nil {
			return nil, err
		}
		return &Input{Config: c, Schema: s, Plan: p}, nil
	}
	p, err := plan.Make(c, migrate.With(s, migrate.Missing(c, s)))
	if err != nil {
		return nil, err
	}
	files, err := migrations(c, p, s, dir)
	if err != nil {
		return nil, err
	}
	return &Input{c, s, p, files}, nil
}

// otherDialect refuses a schema that does not read as the dialect of fence.yaml and does
// as another: each of its statements would be an error otherwise.
func otherDialect(c *config.Config, s *schema.Schema, paths []string) error {
	problem := func(n schema.Note) bool { return n.Problem }
	if !slices.ContainsFunc(s.Notes, problem) {
		return nil
	}
	for _, d := range []sqlstmt.Dialect{sqlstmt.Postgres, sqlstmt.MariaDB, sqlstmt.SQLite} {
		other, err := schema.Load(paths, d)
		if d != c.Dialect && err == nil && !slices.ContainsFunc(other.Notes, problem) {
			return config.Errors{{Pos: config.Pos{File: c.File, Line: 1, Column: 1},
				Msg: fmt.Sprintf("dialect is %s, and the schema reads as %s", c.Dialect, d), Hint: "write dialect: " + d.String()}}
		}
	}
	return nil
}

// migrationsDir is the directory for migrations, empty if there is none.
func migrationsDir(c *config.Config) string {
	if c.Generate == nil || c.Generate.Migrations == "" {
		return ""
	}
	return filepath.Join(c.Dir(), filepath.FromSlash(c.Generate.Migrations))
}

// schemaPaths are the files and directories that make the schema: those of fence.yaml,
// and the migrations, since one that was generated is not to be generated again.
func schemaPaths(c *config.Config, migrations string) ([]string, error) {
	paths := c.SchemaPaths()
	if len(paths) == 0 && migrations == "" {
		found, err := schema.Discover(c.Dir())
		if err != nil {
			return nil, fmt.Errorf("looking for migrations below %s: %w", c.Dir(), err)
		}
		paths = found
	}
	if _, err := os.Stat(migrations); migrations != "" && err == nil && !slices.ContainsFunc(paths, func(p string) bool { return holds(p, migrations) }) {
		paths = append(paths, migrations)
	}
	if len(paths) == 0 {
		return nil, config.Errors{{Pos: config.Pos{File: c.File, Line: 1, Column: 1}, Msg: "there is no schema to generate from",
			Hint: "write schema: [path], the SQL files or the directory of the migrations"}}
	}
	return paths, nil
}

// holds tells whether two paths are of the same directory.
func holds(path, dir string) bool {
	a, errA := os.Stat(path)
	b, errB := os.Stat(dir)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// migrations are the files that s lacks for p, in the format of those that are there.
func migrations(c *config.Config, p *plan.Package, s *schema.Schema, dir string) ([]File, error) {
	format := migrate.Format(c.Generate.Format)
	if format == "" {
		var err error
		if format, err = migrate.Detect(dir); err != nil {
			return nil, err
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("looking at the migrations: %w", err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	missing, err := migrate.Plan(p, s, format, names)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, f := range missing {
		files = append(files, File{filepath.Join(dir, f.Name), f.Data})
	}
	return files, nil
}

// A Result is what is generated.
type Result struct {
	// Files are the package's, with the manifest, and then the migrations.
	Files []File
	dir   string   // of the package
	had   manifest // what fence gen wrote there before
}

// Load reads the fence.yaml at path and makes what it generates, in memory. Version is
// this fence's own: one that is older than the one that wrote the directory is refused.
func Load(path, version string) (*Result, error) {
	c, err := config.Load(path)
	if err != nil {
		return nil, err
	}
	if err := placed(c); err != nil {
		return nil, err
	}
	in, err := read(c)
	if err != nil {
		return nil, err
	}
	r := &Result{dir: filepath.Join(in.Config.Dir(), filepath.FromSlash(in.Config.Generate.Dir))}
	if r.had, err = readManifest(r.dir); err != nil {
		return nil, err
	}
	if err := r.had.newer(version); err != nil {
		return nil, err
	}
	files, err := emit.Files(in.Plan)
	if err != nil {
		return nil, err
	}
	m, err := newManifest(version, r.had, files)
	if err != nil {
		return nil, err
	}
	for _, f := range append(files, m) {
		r.Files = append(r.Files, File{filepath.Join(r.dir, f.Name), f.Data})
	}
	if err := r.foreign(); err != nil {
		return nil, err
	}
	r.Files = append(r.Files, in.Migrations...)
	return r, samePackage(r.dir, in.Plan.Name)
}

// placed refuses a fence.yaml that does not say what to generate.
func placed(c *config.Config) error {
	pos := config.Pos{File: c.File, Line: 1, Column: 1}
	g := cmp.Or(c.Generate, &config.Generate{})
	if g.Package == "" || g.Dir == "" {
		return config.Errors{{Pos: pos, Msg: "generate: the package and its directory are not named",
			Hint: "write generate: {package: ordersdb, dir: internal/ordersdb}"}}
	}
	return nil
}

// foreign refuses to replace a file that fence gen did not write.
func (r *Result) foreign() error {
	for _, f := range r.Files {
		data, err := os.ReadFile(f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist) || err == nil && owned(filepath.Base(f.Path), data):
		case err != nil:
			return fmt.Errorf("reading what is there: %w", err)
		default:
			return fmt.Errorf("%s was not written by fence gen; move it, or choose another directory with generate: dir", f.Path)
		}
	}
	return nil
}

// samePackage refuses a directory that has Go files of another package: nothing in it
// would compile.
func samePackage(dir, name string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return fmt.Errorf("looking for other packages: %w", err)
	}
	for _, path := range files {
		// What the go command leaves out, an editor's lock or a program to be run by itself,
		// is of no package.
		if in, err := build.Default.MatchFile(dir, filepath.Base(path)); err != nil || !in {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("looking for other packages: %w", err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, data, parser.PackageClauseOnly)
		if err != nil || owned(filepath.Base(path), data) { // a file that does not parse is the compiler's to report
			continue
		}
		if had := strings.TrimSuffix(f.Name.Name, "_test"); had != name {
			return fmt.Errorf("%s is of package %s, not %s; choose another directory with generate: dir, or that package with generate: package", path, had, name)
		}
	}
	return nil
}
