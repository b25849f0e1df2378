package driver

import (
	"bytes"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/gcexportdata"
	"golang.org/x/tools/go/packages"

	"github.com/fencelint/fence/internal/suggest"
)

// objects answers which Go object a name means, in the packages of a run and all
// they import.
type objects struct {
	loaded []*packages.Package
	byPath map[string][]*packages.Package // with test variants
	read   map[*packages.Package]*types.Package
}

func newObjects(l *loadedPackages) *objects {
	o := &objects{
		loaded: slices.Concat(l.sound, l.further),
		byPath: make(map[string][]*packages.Package),
		read:   make(map[*packages.Package]*types.Package),
	}
	packages.Visit(o.loaded, nil, func(p *packages.Package) {
		if exists(p) {
			o.byPath[p.PkgPath] = append(o.byPath[p.PkgPath], p)
		}
	})
	return o
}

// split cuts a name into the path of a known package and the rest. The last
// element of a path may have dots itself; path is empty if no package is known.
func (o *objects) split(text string) (path, ident string) {
	for dot := len(text); ; {
		dot = strings.LastIndexByte(text[:dot], '.')
		if dot <= strings.LastIndexByte(text, '/') {
			return "", text
		}
		if _, ok := o.byPath[text[:dot]]; ok {
			return text[:dot], text[dot+1:]
		}
	}
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// likelyPackage is the package in a name of which no package is known.
func likelyPackage(text string) string {
	slash := strings.LastIndexByte(text, '/') + 1
	parts := strings.Split(text[slash:], ".")
	n := 1
	if len(parts) > 2 && majorVersion.MatchString(parts[1]) {
		n = 2 // gopkg.in/yaml.v3
	}
	return text[:slash] + strings.Join(parts[:n], ".")
}

// missing says what of ident is not in the package; empty if it is there, or if
// it may be.
func (o *objects) missing(path, ident string) string {
	parts := strings.Split(ident, ".")
	problem := ""
	for _, p := range o.byPath[path] {
		t := o.types(p)
		if t == nil {
			return ""
		}
		n, known := walk(t, parts)
		if n == len(parts) || o.mayHave(p, parts[n]) {
			return ""
		}
		if problem == "" {
			problem = path + " has no " + strings.Join(parts[:n+1], ".")
			if near := nearName(t, parts, n, known); near != "" {
				problem += ": did you mean \"" + path + "." + near + "\"?"
			}
		}
	}
	return problem
}

// types returns all that p declares and others can name, and of a package in
// source everything.
func (o *objects) types(p *packages.Package) *types.Package {
	if fromSource(p) || p.PkgPath == "unsafe" {
		return p.Types
	}
	if t, ok := o.read[p]; ok {
		return t
	}
	o.read[p] = readExport(p)
	return o.read[p]
}

func fromSource(p *packages.Package) bool { return len(p.Syntax) > 0 }

// readExport reads what the compiler exported. What packages.Load made of it may
// have only the objects that others mention.
func readExport(p *packages.Package) *types.Package {
	f, err := os.Open(p.ExportFile)
	if err != nil {
		return nil
	}
	defer f.Close()
	r, err := gcexportdata.NewReader(f) //nolint:staticcheck // go/packages reads these archives so, too
	if err != nil {
		return nil
	}
	t, err := gcexportdata.Read(r, token.NewFileSet(), make(map[string]*types.Package), p.PkgPath)
	if err != nil {
		return nil
	}
	return t
}

// walk follows parts from object to member as far as it can. n is how many were
// found, known the names beside the first that was not.
func walk(t *types.Package, parts []string) (n int, known []string) {
	obj := t.Scope().Lookup(parts[0])
	if obj == nil {
		return 0, t.Scope().Names()
	}
	for n = 1; n < len(parts); n++ {
		if _, isFunc := obj.(*types.Func); isFunc {
			return n, nil
		}
		next, _, _ := types.LookupFieldOrMethod(obj.Type(), true, t, parts[n])
		if next == nil {
			return n, members(obj.Type())
		}
		obj = next
	}
	return n, nil
}

// members returns the names of t's own fields and of all its methods.
func members(t types.Type) []string {
	var names []string
	if s, ok := t.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			names = append(names, f.Name())
		}
	}
	if !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	for m := range types.NewMethodSet(t).Methods() {
		names = append(names, m.Obj().Name())
	}
	return names
}

// nearName is what may have been meant where parts[n] is not there: a similar
// name, or the same of a type that was left out.
func nearName(t *types.Package, parts []string, n int, known []string) string {
	if w, ok := suggest.Nearest(parts[n], known); ok {
		return strings.Join(append(slices.Clone(parts[:n]), w), ".")
	}
	if len(parts) > 1 {
		return ""
	}
	for _, name := range t.Scope().Names() {
		if typ, ok := t.Scope().Lookup(name).(*types.TypeName); ok {
			if m, _, _ := types.LookupFieldOrMethod(typ.Type(), true, t, parts[0]); m != nil {
				return name + "." + parts[0]
			}
		}
	}
	return ""
}

// mayHave tells whether p may have a name all the same: in a file that was left
// out of this run, or, as export data has only what others can name, in any.
func (o *objects) mayHave(p *packages.Package, name string) bool {
	seen := p.GoFiles
	if !fromSource(p) && !token.IsExported(name) {
		seen = nil
	}
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	return anyFile(dirOf(p), seen, word.Match)
}

// hidden tells whether a package that was not seen is there, or is imported, in
// files that were left out of this run.
func (o *objects) hidden(path string) bool {
	quoted := []byte(`"` + path + `"`)
	imports := func(text []byte) bool { return bytes.Contains(text, quoted) }
	for _, p := range o.loaded {
		if p.Module == nil || !p.Module.Main {
			continue
		}
		if rel, ok := strings.CutPrefix(path, p.Module.Path); ok && (rel == "" || rel[0] == '/') {
			if anyFile(filepath.Join(p.Module.Dir, filepath.FromSlash(rel)), nil, func([]byte) bool { return true }) {
				return true
			}
		}
		if anyFile(dirOf(p), p.GoFiles, imports) {
			return true
		}
	}
	return false
}

// pathsLike returns the known packages that begin or end as path does.
func (o *objects) pathsLike(path string) []string {
	first, _, _ := strings.Cut(path, "/")
	last := path[strings.LastIndexByte(path, '/')+1:]
	var all []string
	for known := range o.byPath {
		if strings.HasPrefix(known, first+"/") || strings.HasSuffix(known, "/"+last) {
			all = append(all, known)
		}
	}
	slices.Sort(all)
	return all
}

func dirOf(p *packages.Package) string {
	if len(p.GoFiles) == 0 {
		return ""
	}
	return filepath.Dir(p.GoFiles[0])
}

// anyFile tells whether a Go file of dir that is not among seen is as told.
func anyFile(dir string, seen []string, is func(text []byte) bool) bool {
	if dir == "" {
		return false
	}
	files, _ := os.ReadDir(dir) // what cannot be read holds nothing
	for _, f := range files {
		file := filepath.Join(dir, f.Name())
		if filepath.Ext(file) != ".go" || slices.Contains(seen, file) {
			continue
		}
		if text, err := os.ReadFile(file); err == nil && is(text) {
			return true
		}
	}
	return false
}
