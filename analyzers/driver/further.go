package driver

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/fencelint/fence/internal/config"
)

// wanted returns the import paths of the dependencies that entries name and that
// are here from export data only.
func (l *loadedPackages) wanted(entries []config.Name) []string {
	if len(entries) == 0 {
		return nil
	}
	named := make(map[string]bool)
	for _, p := range l.sound {
		named[p.PkgPath] = true
	}
	var paths []string
	packages.Visit(l.sound, nil, func(p *packages.Package) {
		if named[p.PkgPath] || p.Module == nil || !exists(p) || !slices.ContainsFunc(entries, matches(p)) {
			return
		}
		named[p.PkgPath] = true
		paths = append(paths, p.PkgPath)
	})
	slices.Sort(paths)
	return paths
}

// matches tells whether an entry names p.
func matches(p *packages.Package) func(config.Name) bool {
	return func(n config.Name) bool { return n.MatchesPackage(p.PkgPath) }
}

// namesFiles tells whether a pattern is a Go file: the go command takes no
// package beside one, so nothing can be added to source.
func namesFiles(patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return strings.HasSuffix(p, ".go") })
}

// withSource loads everything again, with more in source: only within one load
// do importers and imported packages share their types.
func (l *loadedPackages) withSource(ctx context.Context, o Options, more []string) (*loadedPackages, error) {
	pkgs, err := loadPatterns(ctx, o, slices.Concat(o.Patterns, more))
	if err != nil {
		return nil, err
	}
	var named, further []*packages.Package
	for _, p := range pkgs {
		path := strings.TrimSuffix(strings.TrimSuffix(p.PkgPath, ".test"), "_test")
		switch {
		case !slices.Contains(more, path):
			named = append(named, p)
		case p.ID == path: // the rest is their tests, which are nobody's here
			further = append(further, p)
		}
	}
	again := &loadedPackages{at: l.at}
	again.sort(named)
	compile := &loadedPackages{at: l.at}
	compile.sort(further) // what does not is known by those who import it
	again.further = compile.sound
	return again, nil
}
