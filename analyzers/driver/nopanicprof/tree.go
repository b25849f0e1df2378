package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// tree is the code to choose from.
type tree struct {
	std  *module
	dirs []string           // of packages, sorted
	in   map[string]*module // the module of each directory of dirs
	mods map[string]*module // by path, in the highest version there is
}

// module is one version of one module.
type module struct {
	path    string // empty: the standard library
	version string
	dir     string
}

// importPath is the path under which dir, in m, is imported.
func (m *module) importPath(dir string) string {
	rel, err := filepath.Rel(m.dir, dir)
	if err != nil {
		return m.path
	}
	return path.Join(m.path, filepath.ToSlash(rel))
}

// newTree lists what the go command has at hand.
func newTree() (*tree, error) {
	out, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("asking the go command where its code is: %w", err)
	}
	root, cache, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return readTree(filepath.Join(root, "src"), cache)
}

// readTree lists the packages of the standard library in src and of the modules
// in cache.
func readTree(src, cache string) (*tree, error) {
	t := &tree{std: &module{dir: src}, in: map[string]*module{}, mods: map[string]*module{}}
	if err := t.walk(t.std); err != nil {
		return nil, err
	}
	if err := t.modules(cache); err != nil {
		return nil, err
	}
	for _, m := range t.mods {
		if err := t.walk(m); err != nil {
			return nil, err
		}
	}
	slices.Sort(t.dirs)
	return t, nil
}

// modules finds the modules in cache.
func (t *tree) modules(cache string) error {
	return filepath.WalkDir(cache, func(dir string, d fs.DirEntry, err error) error {
		switch {
		case dir == cache && os.IsNotExist(err):
			return fs.SkipAll
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case dir == filepath.Join(cache, "cache"):
			return fs.SkipDir
		case !strings.Contains(d.Name(), "@"):
			return nil
		}
		rel, err := filepath.Rel(cache, dir)
		if err != nil {
			return err
		}
		escaped, version, _ := strings.Cut(filepath.ToSlash(rel), "@")
		m := &module{unescape(escaped), version, dir}
		if m.path == "golang.org/toolchain" {
			return fs.SkipDir // another Go's standard library
		}
		if other := t.mods[m.path]; other == nil || compareVersions(other.version, version) < 0 {
			t.mods[m.path] = m
		}
		return fs.SkipDir
	})
}

// walk adds the packages of m.
func (t *tree) walk(m *module) error {
	return filepath.WalkDir(m.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if name != m.dir && (base == "testdata" || base == "vendor" || base[0] == '.' || base[0] == '_') {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		if dir := filepath.Dir(name); t.in[dir] == nil {
			t.in[dir] = m
			t.dirs = append(t.dirs, dir)
		}
		return nil
	})
}

// unescape undoes what the module cache does to capitals: !a is A.
func unescape(s string) string {
	var b strings.Builder
	upper := false
	for _, r := range s {
		switch {
		case r == '!':
			upper = true
			continue
		case upper:
			r = unicode.ToUpper(r)
		}
		upper = false
		b.WriteRune(r)
	}
	return b.String()
}

// compareVersions orders v1.2.3 by number; of two with the same numbers, one
// with a suffix (a pre-release) comes first.
func compareVersions(a, b string) int {
	na, ra := splitVersion(a)
	nb, rb := splitVersion(b)
	if c := slices.Compare(na, nb); c != 0 {
		return c
	}
	if c := cmp.Compare(len(rb), len(ra)); c != 0 && (ra == "" || rb == "") {
		return c
	}
	return cmp.Compare(ra, rb)
}

func splitVersion(v string) (numbers []int, rest string) {
	v, _, _ = strings.Cut(strings.TrimPrefix(v, "v"), "+")
	v, rest, _ = strings.Cut(v, "-")
	for s := range strings.SplitSeq(v, ".") {
		n, _ := strconv.Atoi(s)
		numbers = append(numbers, n)
	}
	return numbers, rest
}

// resolve returns the directory of the package that code in from imports as p;
// empty if there is none.
func (t *tree) resolve(from *module, p string) string {
	if first, _, _ := strings.Cut(p, "/"); !strings.Contains(first, ".") || from == t.std {
		if dir := filepath.Join(t.std.dir, filepath.FromSlash(p)); t.in[dir] == t.std {
			return dir
		}
		for _, vendor := range []string{"vendor", "cmd/vendor"} {
			// Listed on demand only: these are copies.
			if dir := filepath.Join(t.std.dir, vendor, filepath.FromSlash(p)); from == t.std && hasGo(dir) {
				t.in[dir] = t.std
				return dir
			}
		}
	}
	for prefix := p; prefix != "."; prefix = path.Dir(prefix) {
		m := t.mods[prefix]
		if m == nil {
			continue
		}
		if dir := filepath.Join(m.dir, filepath.FromSlash(strings.TrimPrefix(p, prefix))); t.in[dir] == m {
			return dir
		}
	}
	return ""
}

func hasGo(dir string) bool {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	return err == nil && len(names) > 0
}
