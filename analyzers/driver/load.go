package driver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// loadMode reads the named packages from source and the rest from export data.
const loadMode = packages.LoadSyntax | packages.NeedModule | packages.NeedExportFile

// loadedPackages is what the patterns named.
type loadedPackages struct {
	at         paths
	sound      []*packages.Package // they compile, and all they import does
	further    []*packages.Package // the same of what analyze: adds, in source too
	broken     []Broken
	notChecked []NotChecked
}

// load loads what o names.
func load(ctx context.Context, o Options) (*loadedPackages, error) {
	g := goCommand{ctx: ctx, dir: o.Dir, env: o.Env}
	where, err := g.where()
	if err != nil {
		return nil, err
	}
	pkgs, err := loadPatterns(ctx, o, o.Patterns)
	if err != nil {
		return nil, err
	}
	if err := g.unmatched(o.Patterns, buildFlags(o), len(pkgs)); err != nil {
		return nil, err
	}
	if err := namesPackages(pkgs, o); err != nil {
		return nil, err
	}
	l := &loadedPackages{at: paths{root: where.root(o.Dir), dir: o.Dir, modules: mainModules(pkgs), modCache: where.GOMODCACHE}}
	l.sort(pkgs)
	return l, nil
}

func loadPatterns(ctx context.Context, o Options, patterns []string) ([]*packages.Package, error) {
	pkgs, err := packages.Load(&packages.Config{
		Context:    ctx,
		Mode:       loadMode,
		Dir:        o.Dir,
		Env:        o.Env,
		Tests:      o.Tests,
		BuildFlags: buildFlags(o),
	}, patterns...)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, explainLoad(err.Error())
	}
	return pkgs, nil
}

func buildFlags(o Options) []string {
	if o.Tags == "" {
		return nil
	}
	return []string{"-tags=" + o.Tags}
}

// namesPackages fails if a pattern names something that is no package, or if
// nothing that was named has a file to check.
func namesPackages(pkgs []*packages.Package, o Options) error {
	empty := true
	for _, p := range pkgs {
		if !exists(p) && len(p.Errors) > 0 {
			return explainPattern(p.Errors[0].Msg)
		}
		if len(p.CompiledGoFiles) > 0 {
			empty = false
		}
	}
	if !empty {
		return nil
	}
	err := &UsageError{Problem: fmt.Sprintf("%s: no Go files to check", strings.Join(o.Patterns, " "))}
	if !o.Tests {
		err.Fix = "test files are checked with --tests"
	}
	return err
}

// sort tells the packages that can be checked from the others.
func (l *loadedPackages) sort(pkgs []*packages.Package) {
	b := &breakage{culprits: make(map[*packages.Package]*packages.Package)}
	named := make(map[string]bool) // broken packages already listed
	for _, p := range pkgs {
		if isTestMain(p) || len(p.Errors) == 0 && len(p.CompiledGoFiles) == 0 {
			continue
		}
		culprit := b.culprit(p)
		if culprit == nil {
			l.sound = append(l.sound, p)
			continue
		}
		if !named[culprit.PkgPath] {
			named[culprit.PkgPath] = true
			l.broken = append(l.broken, Broken{culprit.PkgPath, compileErrors(culprit, l.at)})
		}
		if culprit.PkgPath != p.PkgPath {
			l.notChecked = append(l.notChecked, NotChecked{p.PkgPath, culprit.PkgPath})
		}
	}
	slices.SortFunc(l.broken, func(a, b Broken) int { return strings.Compare(a.Package, b.Package) })
	slices.SortFunc(l.notChecked, func(a, b NotChecked) int { return strings.Compare(a.Package, b.Package) })
	l.notChecked = slices.CompactFunc(l.notChecked, func(a, b NotChecked) bool { return a.Package == b.Package })
}

// mainModules returns the directories of the modules that are worked on.
func mainModules(pkgs []*packages.Package) []string {
	var dirs []string
	for _, p := range pkgs {
		if p.Module != nil && p.Module.Main && !slices.Contains(dirs, p.Module.Dir) {
			dirs = append(dirs, p.Module.Dir)
		}
	}
	return dirs
}

// exists reports whether there is anything of p. A pattern or an import that
// names nothing is a package with an error only; one whose package clause cannot
// be read has no name, but files.
func exists(p *packages.Package) bool { return p.Name != "" || len(p.CompiledGoFiles) > 0 }

// isTestMain reports whether p is the program go test makes to run tests.
func isTestMain(p *packages.Package) bool {
	return p.Name == "main" && strings.HasSuffix(p.ID, ".test")
}

// breakage finds out whose fault it is that a package does not compile.
type breakage struct {
	culprits map[*packages.Package]*packages.Package
}

// culprit returns p if it does not compile, else a package it imports that does
// not, else nil. Errors of a package with a broken import are mostly echoes, so
// the import comes first.
func (b *breakage) culprit(p *packages.Package) *packages.Package {
	if found, ok := b.culprits[p]; ok {
		return found
	}
	var found *packages.Package
	for _, path := range importPaths(p) {
		// An import that does not exist is the importer's error.
		if imp := p.Imports[path]; exists(imp) && imp.IllTyped {
			if found = b.culprit(imp); found != nil {
				break
			}
		}
	}
	if found == nil && (p.IllTyped || len(p.Errors) > 0) {
		found = p
	}
	b.culprits[p] = found
	return found
}

func importPaths(p *packages.Package) []string {
	paths := make([]string, 0, len(p.Imports))
	for path := range p.Imports {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}
