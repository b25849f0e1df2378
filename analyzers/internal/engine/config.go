package engine

import (
	"os"
	"path/filepath"
	"reflect"
	"sync"

	"golang.org/x/tools/go/analysis"

	"github.com/fencelint/fence/analyzers/internal/resource"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/schema"
)

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// runConfig finds and reads the nearest fence.yaml. A driver that can report
// errors of configuration has read it before; here an error is the analyzer's.
func (e *Env) runConfig(pass *analysis.Pass) (any, error) {
	if foreign(pass) {
		return resource.New(&config.Config{}, nil), nil
	}
	file, root := nearest(dirOf(pass))
	if e.Options.ConfigFile != "" {
		file = e.Options.ConfigFile
	}
	key := file + "\n" + root
	e.mu.Lock()
	defer e.mu.Unlock()
	if p, ok := e.policies[key]; ok {
		return p, nil
	}
	p, err := readPolicy(file, root)
	if err != nil {
		return nil, err
	}
	e.policies[key] = p
	return p, nil
}

// readPolicy reads one fence.yaml, or the policy of a module without one. The
// schema is read when it is first asked for; without a name it is what a
// migration tool's layout identifies below root. A driver that can report errors
// has read a named one before, so here an error only means that nothing is known.
func readPolicy(file, root string) (*resource.Policy, error) {
	c := &config.Config{}
	if file != "" {
		var err error
		if c, err = config.Load(file); err != nil {
			return nil, err
		}
	}
	return resource.New(c, sync.OnceValue(func() *schema.Schema {
		paths := c.SchemaPaths()
		if len(paths) == 0 && root != "" {
			paths, _ = schema.Discover(root)
		}
		if len(paths) == 0 {
			return nil
		}
		s, err := schema.Load(paths, c.Dialect)
		if err != nil {
			return nil
		}
		return s
	})), nil
}

// nearest returns the nearest fence.yaml from dir up to the module root ("" if
// there is none), and that root ("" if dir is in no module).
func nearest(dir string) (file, root string) {
	for {
		if f := filepath.Join(dir, config.FileName); file == "" && exists(f) {
			file = f
		}
		if exists(filepath.Join(dir, "go.mod")) {
			return file, dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return file, ""
		}
		dir = up
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
