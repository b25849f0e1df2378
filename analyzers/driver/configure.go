package driver

import (
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/packages"

	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/finding"
	"github.com/fencelint/fence/internal/schema"
)

// configs is the configuration of each package of the main modules.
type configs map[*packages.Package]*config.Config

// configure reads the fence.yaml of every package, or file if that is given,
// and the schemas they name.
func configure(pkgs []*packages.Package, file string) (configs, error) {
	read := make(map[string]*config.Config)
	load := func(path string) (*config.Config, error) {
		if c, ok := read[path]; ok {
			return c, nil
		}
		c, err := config.Load(fromHere(path))
		if err == nil {
			// The engine reads it for itself; here, only whether it can.
			_, err = schema.Load(c.SchemaPaths(), c.Dialect)
		}
		if err != nil {
			return nil, &UsageError{Problem: err.Error(), Err: err}
		}
		read[path] = c
		return c, nil
	}
	if file != "" {
		// Also when no package counts: the user wants to know that it is wrong.
		if _, err := load(file); err != nil {
			return nil, err
		}
	}
	byPackage := make(configs)
	for _, p := range pkgs {
		if p.Module == nil || !p.Module.Main || len(p.GoFiles) == 0 {
			continue
		}
		path := file
		if path == "" {
			found, ok, err := config.Find(filepath.Dir(p.GoFiles[0]), p.Module.Dir)
			if err != nil {
				return nil, &UsageError{Problem: err.Error(), Err: err}
			}
			if !ok {
				continue
			}
			path = found
		}
		c, err := load(path)
		if err != nil {
			return nil, err
		}
		byPackage[p] = c
	}
	return byPackage, nil
}

// files returns the configurations in the order of the packages that read them.
func (c configs) files(pkgs []*packages.Package) []*config.Config {
	var all []*config.Config
	for _, p := range pkgs {
		if f := c[p]; f != nil && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all
}

// analyze returns what any configuration has under analyze:.
func (c configs) analyze() []config.Name {
	var all []config.Name
	for _, f := range c {
		for _, n := range f.Analyze {
			if !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	return all
}

// level says what becomes of a check's findings in p; empty if nobody said.
func (c configs) level(p *packages.Package, check string) config.Level {
	if c[p] == nil {
		return ""
	}
	return c[p].Checks[check]
}

// mention reports whether any configuration gives the check a level.
func (c configs) mention(check string) bool {
	for p := range c {
		if c.level(p, check) != "" {
			return true
		}
	}
	return false
}

// severities are the levels that are printed.
var severities = map[config.Level]finding.Severity{
	config.Warning: finding.Warning,
	config.Error:   finding.Error,
}

// fromHere shortens a path to what can be opened from the current directory,
// which is how errors name files.
func fromHere(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
