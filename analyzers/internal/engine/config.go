package engine

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/tools/go/analysis"

	"github.com/fencelint/fence/analyzers/internal/resource"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/schema"
	"github.com/fencelint/fence/internal/sqlstmt"
)

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// setting is what the configuration says about a package, or why it says nothing.
type setting struct {
	policy *resource.Policy
	err    error // what keeps the file from being understood

	asked  atomic.Bool
	schema func() (*schema.Schema, error)
}

// unread is the setting that err keeps from being known.
func unread(err error) *setting { return &setting{err: err} }

// failure returns what is wrong with the file, or with a schema that it names and
// that was needed: one that nobody asked for keeps nobody from being checked.
func (s *setting) failure() error {
	if s.err != nil || !s.asked.Load() {
		return s.err
	}
	_, err := s.schema()
	return err
}

// newSetting makes a setting of c. The schema is read when it is first asked for;
// if c names none it is what a migration tool's layout identifies below root.
func newSetting(c *config.Config, root string) *setting {
	s := &setting{}
	s.schema = sync.OnceValues(func() (*schema.Schema, error) {
		if paths := c.SchemaPaths(); len(paths) > 0 {
			return schema.Load(paths, c.Dialect)
		}
		return discovered(root, c.Dialect), nil
	})
	s.policy = resource.New(c, func() *schema.Schema {
		s.asked.Store(true)
		found, _ := s.schema()
		return found
	})
	return s
}

// discovered returns the schema that a migration tool's layout identifies below
// root. Nobody said that there is one, so what cannot be read is none.
func discovered(root string, d sqlstmt.Dialect) *schema.Schema {
	if root == "" {
		return nil
	}
	dirs, err := schema.Discover(root)
	if err != nil || len(dirs) == 0 {
		return nil
	}
	found, err := schema.Load(dirs, d)
	if err != nil {
		return nil
	}
	return found
}

// runConfig finds what counts for a package: what a flag or the options give
// inline, else the file that the options name, else the nearest fence.yaml. A
// file that cannot be understood is no error here: an analyzer that requires a
// failed one is told only that it failed, and the user would be told no more.
func (e *Env) runConfig(pass *analysis.Pass) (any, error) {
	pass = e.shown(pass)
	if !e.counts(pass) {
		return newSetting(&config.Config{}, ""), nil
	}
	if e.flags.err != nil {
		return unread(e.flags.err), nil
	}
	var file, root string
	if hasModule(pass) || isCommandLine(pass) {
		var err error
		if file, root, err = nearest(dirOf(pass)); err != nil {
			return unread(err), nil
		}
	}
	if e.Options.ConfigFile != "" {
		file = e.Options.ConfigFile
	}
	inline := e.inlinePolicy()
	if inline != nil {
		file = ""
	}
	key := file + "\n" + root
	e.mu.Lock()
	defer e.mu.Unlock()
	if s, ok := e.settings[key]; ok {
		return s, nil
	}
	s := readSetting(file, root, inline)
	e.settings[key] = s
	return s, nil
}

func readSetting(file, root string, inline *config.Config) *setting {
	switch {
	case inline != nil:
		return newSetting(inline, root)
	case file == "":
		return newSetting(&config.Config{}, root)
	}
	c, err := config.Load(file)
	if err != nil {
		return unread(err)
	}
	return newSetting(c, root)
}

// counts tells whether pass's package is one of a main module: what fence check
// cannot see, no driver reports.
func (e *Env) counts(pass *analysis.Pass) bool {
	path, _, _ := strings.Cut(pass.Pkg.Path(), " ") // "p [p.test]" is p with its tests
	switch {
	case len(pass.Files) == 0:
		return false
	case len(e.flags.modules) > 0:
		return slices.ContainsFunc(e.flags.modules, func(m string) bool {
			return path == m || strings.HasPrefix(path, m+"/")
		})
	case hasModule(pass):
		return pass.Module.Version == ""
	}
	return isCommandLine(pass) || !isStandard(path)
}

// hasModule tells whether the driver knows the package's module: nogo knows none,
// and the standard library is in none.
func hasModule(pass *analysis.Pass) bool { return pass.Module != nil && pass.Module.Path != "" }

// isCommandLine tells whether the package is the files named on a command line.
func isCommandLine(pass *analysis.Pass) bool { return pass.Pkg.Path() == "command-line-arguments" }

// isStandard tells whether path can be one of the standard library, which no path
// with a dot in its first element is.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// nearest returns the nearest fence.yaml from dir up to the module root ("" if
// there is none), and that root ("" if dir is in no module).
func nearest(dir string) (file, root string, err error) {
	for {
		if file == "" {
			// One directory at a time, since a driver need not say where the root is.
			if file, _, err = config.Find(dir, dir); err != nil {
				return "", "", err
			}
		}
		if exists(filepath.Join(dir, "go.mod")) {
			return file, dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return file, "", nil
		}
		dir = up
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
