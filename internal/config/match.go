package config

import (
	"path"
	"slices"
	"strings"
)

// MatchesPackage reports whether n, an import path that may end in /..., means
// the package of that path. It is how Writers and Analyze are to be read.
func (n Name) MatchesPackage(importPath string) bool {
	tree, ok := strings.CutSuffix(n.Text, "/...")
	return importPath == tree || ok && strings.HasPrefix(importPath, tree+"/")
}

// Excludes reports whether a file is left out. The path is relative to Dir and
// has slashes. A pattern means what it matches and everything below; ** stands
// for any number of directories.
func (c *Config) Excludes(file string) bool {
	segments := strings.Split(path.Clean(file), "/")
	for _, n := range c.Exclude {
		if matchGlob(strings.Split(path.Clean(n.Text), "/"), segments) {
			return true
		}
	}
	return false
}

// matchGlob reports whether pattern matches a prefix of segments. It keeps the
// set of prefixes matched so far: trying every split would take time that grows
// with each further **.
func matchGlob(pattern, segments []string) bool {
	matched := make([]bool, len(segments)+1) // by length of the prefix
	matched[0] = true
	for _, p := range pattern {
		next := make([]bool, len(segments)+1)
		for i, ok := range matched {
			if p == "**" {
				next[i] = ok || i > 0 && next[i-1]
				continue
			}
			if !ok || i == len(segments) {
				continue
			}
			hit, err := path.Match(p, segments[i])
			next[i+1] = err == nil && hit
		}
		matched = next
	}
	return slices.Contains(matched, true)
}
