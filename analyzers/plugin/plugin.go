// Package plugin is fence as a module plugin of golangci-lint, from v2.15 on:
// earlier ones lose facts of packages that they have in their cache.
//
// What golangci-lint keeps in its cache it keys by the Go files of a package, the
// settings of the linters and the names of the analyzers. A fence.yaml and a
// schema are none of these, so one analyzer does nothing but carry their digest in
// its name.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/analyzers/driver"
	"github.com/fencelint/fence/analyzers/internal/engine"
	"github.com/fencelint/fence/analyzers/internal/inputs"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/schema"
)

// name is what a .golangci.yml and //nolint call the plugin.
const name = "fence"

func init() { register.Plugin(name, New) }

// plugin is one configured linter.
type plugin struct {
	checks  driver.Selection
	options engine.Options
	digest  string // of what the checks read besides Go source
}

// New makes a linter of the settings in a .golangci.yml. Everything that is wrong
// with them, or with a fence.yaml, is an error here: golangci-lint would end the
// whole run with the first error of an analyzer.
func New(conf any) (register.LinterPlugin, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding the working directory: %w", err)
	}
	return build(conf, here)
}

func build(conf any, dir string) (*plugin, error) {
	home := settingsDir(dir)
	s, err := decode(conf, home)
	if err != nil {
		return nil, err
	}
	checks, err := driver.Select(analyzers.All(), s.spec())
	if err != nil {
		return nil, fmt.Errorf("%s.checks: %s", place, strings.ReplaceAll(err.Error(), "\n", ": ")) // a fix is on a line of its own
	}
	p := &plugin{checks: checks, options: engine.Options{Strict: s.strict, Policy: s.policy, NoRelated: true}}
	switch {
	case s.policy != nil:
		// Its text is part of the settings.
		p.digest = inputs.Schemas(s.policy)
		err = readable(s.policy)
	case s.config != "":
		p.options.ConfigFile = s.config
		p.digest = inputs.Of(s.config)
		err = readableFile(s.config)
	default:
		var in inputs.Inputs
		if in, err = inputs.Find(context.Background(), dir); err == nil {
			p.digest = in.Digest
			err = readableFiles(in.Configs)
		}
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// BuildAnalyzers returns the checks and the bearer of the digest.
func (p *plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) {
	return append(p.checks.Modular(p.options), &analysis.Analyzer{
		Name: "fenceinputs_" + p.digest,
		Doc:  "carries the digest of fence.yaml and of schemas in its name, for golangci-lint's cache",
		Run:  func(*analysis.Pass) (any, error) { return nil, nil },
	}), nil
}

// GetLoadMode says that the checks need types.
func (p *plugin) GetLoadMode() string { return register.LoadModeTypesInfo }

// settingsDir is the directory that relative paths in the settings count from: of
// the golangci-lint configuration found from dir upwards, else dir.
func settingsDir(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		for _, ext := range []string{"yml", "yaml", "toml", "json"} {
			if _, err := os.Stat(filepath.Join(at, ".golangci."+ext)); err == nil {
				return at
			}
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// readableFiles tells what is wrong with any of some fence.yaml that count for a
// package.
func readableFiles(files []string) error {
	var errs []error
	for _, file := range files {
		if counts(file) {
			errs = append(errs, readableFile(file))
		}
	}
	return errors.Join(errs...)
}

// counts tells whether there is Go source that a fence.yaml can be about. Those in
// testdata are about packages that no pattern matches, and may be wrong on purpose.
func counts(file string) bool {
	if slices.Contains(strings.Split(filepath.ToSlash(file), "/"), "testdata") {
		return false
	}
	found := false
	// What cannot be read holds no package.
	_ = filepath.WalkDir(filepath.Dir(file), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && filepath.Ext(path) == ".go" {
			found = true
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

func readableFile(file string) error {
	c, err := config.Load(file)
	if err != nil {
		return err
	}
	return readable(c)
}

func readable(c *config.Config) error {
	_, err := schema.Load(c.SchemaPaths(), c.Dialect)
	return err
}
