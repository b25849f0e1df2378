package engine

import (
	"os"
	"path/filepath"
	"reflect"

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
	file := e.Options.ConfigFile
	if file == "" {
		file = nearest(dirOf(pass))
	}
	e.mu.Lock()
	p, ok := e.policies[file]
	e.mu.Unlock()
	if ok {
		return p, nil
	}
	p, err := readPolicy(file)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.policies[file] = p
	return p, nil
}

func readPolicy(file string) (*resource.Policy, error) {
	if file == "" {
		return resource.New(&config.Config{}, nil), nil
	}
	c, err := config.Load(file)
	if err != nil {
		return nil, err
	}
	if len(c.Schema) == 0 {
		return resource.New(c, nil), nil
	}
	s, err := schema.Load(c.SchemaPaths(), c.Dialect)
	if err != nil {
		return nil, err
	}
	return resource.New(c, s), nil
}

// nearest returns the nearest fence.yaml from dir up to the module root, or "".
func nearest(dir string) string {
	for {
		f := filepath.Join(dir, "fence.yaml")
		if _, err := os.Stat(f); err == nil {
			return f
		}
		up := filepath.Dir(dir)
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || up == dir {
			return ""
		}
		dir = up
	}
}
