package config

import (
	"path"
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

// matchGlob reports whether pattern matches a prefix of segments.
func matchGlob(pattern, segments []string) bool {
	if len(pattern) == 0 {
		return true
	}
	if pattern[0] == "**" {
		for i := range len(segments) + 1 {
			if matchGlob(pattern[1:], segments[i:]) {
				return true
			}
		}
		return false
	}
	if len(segments) == 0 {
		return false
	}
	ok, err := path.Match(pattern[0], segments[0])
	return err == nil && ok && matchGlob(pattern[1:], segments[1:])
}
