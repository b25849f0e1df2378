package sink

// This file knows what gorm and bun call the table of a model and the columns of its
// fields.

import (
	"go/types"
	"reflect"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// model is the struct that stands for a table, and the value that was given.
type model struct {
	of  *types.Named
	val ssa.Value
}

// structOf returns the struct behind a model: &Job{}, []Job, *[]*Job.
func structOf(t types.Type) *types.Named {
	for range 4 {
		t = types.Unalias(t)
		switch u := t.(type) {
		case *types.Pointer:
			t = u.Elem()
			continue
		case *types.Slice:
			t = u.Elem()
			continue
		case *types.Named:
			if s, ok := u.Underlying().(*types.Slice); ok {
				t = s.Elem()
				continue
			}
			if _, ok := u.Underlying().(*types.Struct); ok {
				return u
			}
		}
		return nil
	}
	return nil
}

// ModelTable is what gorm calls the table of a model: what its method TableName
// says, or the plural of its name.
func (r *Reader) ModelTable(n *types.Named) string {
	if name, _ := r.tableMethod(n); name != "" {
		return name
	}
	return plural(snake(n.Obj().Name()))
}

// BuilderTable is what the builder of an import path calls the table of a model, and
// the alias it gives it.
func (r *Reader) BuilderTable(path string, n *types.Named) (table, alias string) {
	if path == bunPath {
		return bunTable(n)
	}
	return r.ModelTable(n), ""
}

// tableMethod returns what the method TableName of a model returns, "" if that is out
// of sight; has: there is such a method.
func (r *Reader) tableMethod(n *types.Named) (name string, has bool) {
	obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(n), true, n.Obj().Pkg(), "TableName")
	m, ok := obj.(*types.Func)
	if !ok {
		return "", false
	}
	fn := r.Pkg.SSA.Prog.FuncValue(m.Origin())
	if fn == nil || fn.Blocks == nil {
		if r.Text.Returns != nil {
			if ts := r.Text.Returns(m); len(ts) == 1 {
				return tableText(ts[0]), true
			}
		}
		return "", true
	}
	for _, b := range fn.Blocks {
		ret := returned(b)
		if ret == nil || len(ret.Results) != 1 {
			continue
		}
		t, known := r.only(ret.Results[0])
		if !known || name != "" && name != t {
			return "", true
		}
		name = t
	}
	return tableText(name), true
}

func tableText(s string) string { return strings.ReplaceAll(ident(s), sqlstmt.Hole, "") }

// snake writes a Go name as gorm and bun do: UserID is user_id, HTTPJob http_job.
func snake(s string) string {
	rs := []rune(s)
	var b strings.Builder
	for i, c := range rs {
		if unicode.IsUpper(c) && i > 0 && rs[i-1] != '_' {
			next := i+1 < len(rs) && unicode.IsLower(rs[i+1])
			if unicode.IsLower(rs[i-1]) || unicode.IsDigit(rs[i-1]) || next {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// plurals are the rules of jinzhu/inflection, which both libraries use, in the order
// in which they are tried.
var plurals = []struct {
	find    *regexp.Regexp
	replace string
}{
	{regexp.MustCompile(`^(equipment|information|rice|money|species|series|fish|sheep|jeans|police)$`), "$1"},
	{regexp.MustCompile(`person$`), "people"}, {regexp.MustCompile(`man$`), "men"}, {regexp.MustCompile(`child$`), "children"},
	{regexp.MustCompile(`sex$`), "sexes"}, {regexp.MustCompile(`move$`), "moves"},
	{regexp.MustCompile(`quiz$`), "quizzes"}, {regexp.MustCompile(`^(oxen)$`), "$1"}, {regexp.MustCompile(`^(ox)$`), "${1}en"},
	{regexp.MustCompile(`^(m|l)ice$`), "${1}ice"}, {regexp.MustCompile(`^(m|l)ouse$`), "${1}ice"},
	{regexp.MustCompile(`(matr|vert|ind)(?:ix|ex)$`), "${1}ices"}, {regexp.MustCompile(`(x|ch|ss|sh)$`), "${1}es"},
	{regexp.MustCompile(`([^aeiouy]|qu)y$`), "${1}ies"}, {regexp.MustCompile(`(hive)$`), "${1}s"},
	{regexp.MustCompile(`(?:([^f])fe|([lr])f)$`), "${1}${2}ves"}, {regexp.MustCompile(`sis$`), "ses"},
	{regexp.MustCompile(`([ti])a$`), "${1}a"}, {regexp.MustCompile(`([ti])um$`), "${1}a"},
	{regexp.MustCompile(`(buffal|tomat)o$`), "${1}oes"}, {regexp.MustCompile(`(bu)s$`), "${1}ses"},
	{regexp.MustCompile(`(alias|status)$`), "${1}es"}, {regexp.MustCompile(`(octop|vir)i$`), "${1}i"},
	{regexp.MustCompile(`(octop|vir)us$`), "${1}i"}, {regexp.MustCompile(`^(ax|test)is$`), "${1}es"},
	{regexp.MustCompile(`s$`), "s"}, {regexp.MustCompile(`([a-z])$`), "${1}s"},
}

func plural(s string) string {
	for _, p := range plurals {
		if p.find.MatchString(s) {
			return p.find.ReplaceAllString(s, p.replace)
		}
	}
	return s
}

// columnName is what an ORM calls a field's column: the tag's, else snake case.
func columnName(fa *ssa.FieldAddr) string {
	return columnOf(reflect.StructTag(ir.TagOf(fa.X.Type(), fa.Field)), ir.FieldOf(fa.X.Type(), fa.Field))
}

func columnOf(tag reflect.StructTag, f *types.Var) string {
	if name := gormTag(tag, "column"); name != "" {
		return column(name)
	}
	for _, key := range []string{"bun", "db"} {
		if name, _, _ := strings.Cut(tag.Get(key), ","); name != "" && !strings.Contains(name, ":") {
			return column(name)
		}
	}
	return column(snake(f.Name()))
}

// gormTag returns the value of a setting in a gorm tag; one without a value is its
// own name.
func gormTag(tag reflect.StructTag, key string) string {
	for part := range strings.SplitSeq(tag.Get("gorm"), ";") {
		name, val, has := strings.Cut(strings.TrimSpace(part), ":")
		if strings.EqualFold(name, key) {
			if !has {
				return name
			}
			return val
		}
	}
	return ""
}

// primaryKeys are the columns of a model's primary key, id if none is marked.
func primaryKeys(n *types.Named) []string {
	var out []string
	if s, ok := n.Underlying().(*types.Struct); ok {
		for i := range s.NumFields() {
			tag := reflect.StructTag(s.Tag(i))
			_, options, _ := strings.Cut(tag.Get("bun"), ",")
			if gormTag(tag, "primaryKey") != "" || gormTag(tag, "primary_key") != "" || hasOption(options, "pk") {
				out = append(out, columnOf(tag, s.Field(i)))
			}
		}
	}
	if out == nil {
		return []string{"id"}
	}
	return out
}

func hasOption(options, name string) bool {
	for o := range strings.SplitSeq(options, ",") {
		if o == name {
			return true
		}
	}
	return false
}

// bunTable returns the table and the alias that bun gives a model: those of the tag
// of its bun.BaseModel, or the plural of its name.
func bunTable(n *types.Named) (table, alias string) {
	table, alias = plural(snake(n.Obj().Name())), snake(n.Obj().Name())
	s, ok := n.Underlying().(*types.Struct)
	if !ok {
		return table, alias
	}
	for i := range s.NumFields() {
		if !ir.IsNamed(s.Field(i).Type(), bunPath, "BaseModel") && !ir.IsNamed(s.Field(i).Type(), bunPath+"/schema", "BaseModel") {
			continue
		}
		for part := range strings.SplitSeq(reflect.StructTag(s.Tag(i)).Get("bun"), ",") {
			if name, ok := strings.CutPrefix(part, "table:"); ok {
				table = ident(name)
			}
			if name, ok := strings.CutPrefix(part, "alias:"); ok {
				alias = ident(name)
			}
		}
	}
	return table, alias
}

func tagOf(s *types.Struct, i int) reflect.StructTag { return reflect.StructTag(s.Tag(i)) }
