package driver

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/finding"
	"github.com/fencelint/fence/internal/schema"
	"github.com/fencelint/fence/internal/suggest"
)

// ConfigCode is the code of findings about fence.yaml.
const ConfigCode = "config"

// unresolved returns the entries of every fence.yaml that name nothing. They are
// warnings: a dependency that renames a method must not break the build.
func (k *collector) unresolved(l *loadedPackages) []finding.Finding {
	if len(l.broken) > 0 {
		return nil // less was seen, so more seems to be missing
	}
	var fs []finding.Finding
	var objects *objects
	for _, c := range k.configs.files(l.sound) {
		all := entries(c)
		if len(all) == 0 {
			continue
		}
		if objects == nil {
			objects = newObjects(l)
		}
		r := resolver{objects: objects, whole: true}
		modules := k.configs.modules(l.sound, c)
		for _, m := range modules {
			r.whole = r.whole && wholeModule(k.Options, m)
		}
		if namesSchema(all) {
			r.tables = tablesOf(c, modules)
		}
		for _, e := range all {
			if problem := r.problem(e); problem != "" {
				fs = append(fs, k.aboutEntry(e, problem))
			}
		}
	}
	return fs
}

// aboutEntry makes a finding of what is wrong with an entry.
func (k *collector) aboutEntry(e entry, problem string) finding.Finding {
	file := e.name.Pos.File
	if abs, err := filepath.Abs(file); err == nil {
		file = abs // the name counts from this process's directory, not from -C's
	}
	at := finding.Place{File: k.at.rel(file), Line: e.name.Pos.Line, Column: e.name.Pos.Column}
	return finding.Finding{
		Code: ConfigCode, Severity: finding.Warning, Location: at, End: at,
		Message: e.key + ": " + problem, Statement: e.key + ": " + e.name.Text,
	}
}

// modules returns the modules whose packages read c.
func (c configs) modules(pkgs []*packages.Package, f *config.Config) []*packages.Module {
	var all []*packages.Module
	for _, p := range pkgs {
		if c[p] == f && !slices.ContainsFunc(all, func(m *packages.Module) bool { return m.Dir == p.Module.Dir }) {
			all = append(all, p.Module)
		}
	}
	return all
}

// wholeModule tells whether a pattern names every package of m. Where none does,
// what is not there may be in a package that was not named.
func wholeModule(o Options, m *packages.Module) bool {
	return slices.ContainsFunc(o.Patterns, func(pattern string) bool {
		if pattern == "all" || pattern == "..." {
			return true
		}
		base, ok := strings.CutSuffix(filepath.ToSlash(pattern), "/...")
		switch {
		case !ok:
			return false
		case filepath.IsAbs(base):
			return within(filepath.FromSlash(base), m.Dir)
		case base == "." || base == ".." || strings.HasPrefix(base, "./") || strings.HasPrefix(base, "../"):
			return within(filepath.Join(o.Dir, filepath.FromSlash(base)), m.Dir)
		}
		return m.Path == base || strings.HasPrefix(m.Path, base+"/")
	})
}

// tablesOf returns the tables that are known where c counts; none if the schema may have
// others: if any statement was not understood, or runs code.
func tablesOf(c *config.Config, modules []*packages.Module) []*schema.Table {
	paths := c.SchemaPaths()
	for _, m := range modules {
		if len(c.Schema) > 0 {
			break
		}
		found, err := schema.Discover(m.Dir)
		if err != nil {
			return nil
		}
		paths = append(paths, found...)
	}
	s, err := schema.Load(paths, c.Dialect)
	if err != nil || slices.ContainsFunc(s.Notes, func(n schema.Note) bool { return n.Problem || n.Hides }) {
		return nil
	}
	return s.Tables
}

// resolver says of one fence.yaml's entries what they name.
type resolver struct {
	*objects
	tables []*schema.Table
	whole  bool // every package that could use the entries was loaded
}

// problem says what is wrong with an entry; empty if nothing is known to be.
func (r *resolver) problem(e entry) string {
	text := e.name.Text
	switch e.means {
	case anObject:
		return r.object(text)
	case anObjectOrColumn:
		if strings.Contains(text, "/") {
			return r.object(text)
		}
		if path, _ := r.split(text); path != "" && r.object(text) == "" {
			return ""
		}
		return r.column(text, true)
	case aColumn:
		return r.column(text, false)
	case anOrderedColumn:
		if problem := r.column(text, false); problem != "" {
			return problem
		}
		return r.unordered(text)
	case aTable:
		return r.table(text)
	case aColumnAnywhere:
		return r.columnAnywhere(text)
	case packagesHere, packagesAnywhere:
		return r.packages(e)
	}
	return ""
}

// object says what is wrong with the name of a Go object.
func (r *resolver) object(text string) string {
	if path, ident := r.split(text); path != "" {
		return r.missing(path, ident)
	}
	path := likelyPackage(text)
	if !r.whole || r.hidden(path) {
		return ""
	}
	problem := fmt.Sprintf("no package that was loaded imports %s, so this entry is unused", path)
	return withSuggestion(problem, path, r.pathsLike(path))
}

// packages says what is wrong with a pattern of packages.
func (r *resolver) packages(e entry) string {
	if !r.whole {
		return ""
	}
	for path, ps := range r.byPath {
		main := ps[0].Module != nil && ps[0].Module.Main
		if (main || e.means == packagesAnywhere && ps[0].Module != nil) && e.name.MatchesPackage(path) {
			return ""
		}
	}
	if e.means == packagesHere {
		return fmt.Sprintf("%s matches no package of the module, so this entry is unused", e.name.Text)
	}
	return fmt.Sprintf("no package that was loaded imports one of %s, so this entry is unused", e.name.Text)
}

// table says what is wrong with the name of a table.
func (r *resolver) table(text string) string {
	if len(r.tables) == 0 || len(r.named(text)) > 0 {
		return ""
	}
	return withSuggestion(fmt.Sprintf("the schema has no table %s", text), text, r.tableNames())
}

// column says what is wrong with the name of a column. Whether the table is
// there is asked of every column, or elsewhere.
func (r *resolver) column(text string, askTable bool) string {
	dot := strings.LastIndexByte(text, '.')
	table, name := text[:dot], text[dot+1:]
	found := r.named(table)
	if len(found) == 0 {
		if askTable {
			return r.table(table)
		}
		return ""
	}
	var known []string
	for _, t := range found {
		if len(t.Columns) == 0 || t.Column(name) != nil {
			return ""
		}
		for _, c := range t.Columns {
			known = append(known, c.Name)
		}
	}
	return withSuggestion(fmt.Sprintf("table %s has no column %s", table, name), name, known)
}

// unorderedTypes are types whose values can only be the same or not: the larger of two
// identities, texts or bytes is not the later one.
var unorderedTypes = []string{"uuid", "text", "bytea", "character varying", "varchar", "char", "character", "binary", "varbinary", "blob", "boolean", "json", "jsonb"}

// unordered says that a fence column under rule monotonic has no order.
func (r *resolver) unordered(text string) string {
	dot := strings.LastIndexByte(text, '.')
	for _, t := range r.named(text[:dot]) {
		if c := t.Column(text[dot+1:]); c != nil && slices.Contains(unorderedTypes, c.Base) {
			return fmt.Sprintf("column %s is of type %s (%s:%d), whose values have no order: write rule: equal, or use a bigint",
				text, c.Type, filepath.Base(c.Pos.File), c.Pos.Line)
		}
	}
	return ""
}

func (r *resolver) columnAnywhere(name string) string {
	if len(r.tables) == 0 || slices.ContainsFunc(r.tables, func(t *schema.Table) bool { return t.Column(name) != nil }) {
		return ""
	}
	return fmt.Sprintf("no table of the schema has a column %s, so this entry is unused", name)
}

// named returns the tables that text may name.
func (r *resolver) named(text string) []*schema.Table {
	in, name := "", text
	if dot := strings.IndexByte(text, '.'); dot >= 0 {
		in, name = text[:dot], text[dot+1:]
	}
	var found []*schema.Table
	for _, t := range r.tables {
		if strings.EqualFold(t.Name, name) && (in == "" || t.Schema == "" || strings.EqualFold(t.Schema, in)) {
			found = append(found, t)
		}
	}
	return found
}

func (r *resolver) tableNames() []string {
	var all []string
	for _, t := range r.tables {
		all = append(all, t.Name)
	}
	return all
}

// withSuggestion adds the known name that may have been meant.
func withSuggestion(problem, got string, known []string) string {
	if hint := suggest.Hint(got, known, ""); hint != "" {
		return problem + ": " + hint
	}
	return problem
}
