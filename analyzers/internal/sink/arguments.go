package sink

// This file reads what builders are given: texts with their values, maps, literals.

import (
	"go/constant"
	"go/types"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// only returns the one text that v can be, without holes.
func (r *Reader) only(v ssa.Value) (string, bool) {
	if v == nil || !isString(plain(v).Type()) {
		return "", false
	}
	t := r.Text.Texts(plain(v))
	if len(t) != 1 || strings.Contains(t[0], sqlstmt.Hole) {
		return "", false
	}
	return t[0], true
}

// onlyTable is only for a table's name, whose schema may be known at run time alone.
func (r *Reader) onlyTable(v ssa.Value) (string, bool) {
	if t, ok := r.only(v); ok || v == nil || !isString(plain(v).Type()) {
		return t, ok
	}
	t := r.Text.Texts(plain(v))
	if len(t) != 1 {
		return "", false
	}
	table, ok := strings.CutPrefix(t[0], sqlstmt.Hole+".")
	return t[0], ok && !strings.Contains(table, sqlstmt.Hole)
}

// texts returns the texts of a variadic list of strings, and whether these are all.
func (r *Reader) texts(list ssa.Value) (out []string, ok bool) {
	if list == nil {
		return nil, true
	}
	vals, ok := origin.Variadic(list)
	for _, v := range vals {
		t, known := r.only(v)
		if !known {
			return out, false
		}
		out = append(out, t)
	}
	return out, ok
}

// listOf returns the values of a variadic argument, none if there is no such
// argument.
func listOf(list ssa.Value) []ssa.Value {
	if list == nil {
		return nil
	}
	vals, _ := origin.Variadic(list)
	return vals
}

// columnNames are the texts of a list as columns; one that is out of sight is
// unknown.
func (r *Reader) columnNames(list ssa.Value) []string {
	ts, ok := r.texts(list)
	var out []string
	for _, t := range ts {
		out = append(out, column(t))
	}
	if !ok {
		out = append(out, UnknownColumn)
	}
	return out
}

// column is a name as a column of a statement.
func column(name string) string {
	if c := ident(name); c != sqlstmt.Hole {
		return c
	}
	return UnknownColumn
}

// fragment reads a text with placeholders and the list of its values.
func (r *Reader) fragment(b *builder, q *query, text, list ssa.Value) (piece, bool) {
	t, ok := r.only(text)
	if !ok {
		return piece{}, false
	}
	var vals []ssa.Value
	if list != nil {
		vals, _ = origin.Variadic(list)
	}
	return r.bind(b, q, t, vals), true
}

// mark is a placeholder of a builder's text: ?, ?0, ?TableAlias, @name; ?? is a
// question mark.
var mark = regexp.MustCompile(`\?\?|\?[A-Za-z]\w*|\?\d+|\?|@[A-Za-z_]\w*|'(?:[^']|'')*'`)

// bind puts values in the place of a text's placeholders: a parameter for a value,
// the text of what is no parameter.
func (r *Reader) bind(b *builder, q *query, text string, vals []ssa.Value) piece {
	w := &writer{}
	next := 0
	value := func(i int) piece {
		if i >= len(vals) {
			return param(nil)
		}
		return r.value(b, vals[i])
	}
	last := 0
	for _, at := range mark.FindAllStringIndex(text, -1) {
		w.WriteString(text[last:at[0]])
		m := text[at[0]:at[1]]
		last = at[1]
		switch {
		case m[0] == '\'':
			w.WriteString(m)
		case m == "??":
			w.WriteString("?")
		case m == "?":
			w.add(value(next))
			next++
		case m[0] == '@':
			w.add(r.namedValue(m[1:], vals))
		case m[1] >= '0' && m[1] <= '9':
			i, _ := strconv.Atoi(m[1:])
			w.add(value(i))
		default:
			w.WriteString(q.placeholder(m[1:]))
		}
	}
	w.WriteString(text[last:])
	return piece{PlainIn(w.String()), w.args}
}

// placeholder is what bun puts in the place of ?TableAlias and its like.
func (q *query) placeholder(name string) string {
	switch name {
	case "TableAlias":
		if q.alias != "" {
			return q.alias
		}
		return q.from()
	case "TableName":
		return q.from()
	}
	return sqlstmt.Hole
}

// namedValue finds the value of @name: an entry of a map, a sql.Named.
func (r *Reader) namedValue(name string, vals []ssa.Value) piece {
	for _, v := range vals {
		v = plain(v)
		if m, ok := v.(*ssa.MakeMap); ok {
			for _, u := range updates(m) {
				if k, ok := constString(u.Key); ok && k == name {
					return param(u.Value)
				}
			}
		}
		if c, ok := v.(*ssa.Call); ok {
			if obj := ir.Object(&c.Call); obj != nil && obj.FullName() == "database/sql.Named" {
				if k, ok := constString(c.Call.Args[0]); ok && k == name {
					return param(c.Call.Args[1])
				}
			}
		}
	}
	return param(nil)
}

// value is one value of a text or an assignment: an expression of the builder's, or
// a parameter.
func (r *Reader) value(b *builder, v ssa.Value) piece {
	if p, ok := b.inline(r, plain(v)); ok {
		return p
	}
	if c, ok := plain(v).(*ssa.Const); ok && c.Value == nil {
		return piece{text: "NULL"}
	}
	return param(v)
}

// bareIn is gorm's form of a list: "name IN ?".
var bareIn = regexp.MustCompile(`(?i)\bIN\s+\?`)

// PlainIn writes gorm's "IN ?" as SQL does.
func PlainIn(condition string) string { return bareIn.ReplaceAllString(condition, "IN (?)") }

// compare is column op value: IN for a list, IS NULL for nil.
func (r *Reader) compare(b *builder, col, op string, v ssa.Value) piece {
	val := plain(v)
	if c, ok := val.(*ssa.Const); ok && c.Value == nil {
		return piece{text: col + map[string]string{"=": " IS NULL", "<>": " IS NOT NULL"}[op]}
	}
	if p, ok := b.inline(r, val); ok {
		return piece{col + " " + op + " " + p.text, p.args}
	}
	if s, ok := val.Type().Underlying().(*types.Slice); ok && !isByte(s.Elem()) {
		in := map[string]string{"=": " IN (?)", "<>": " NOT IN (?)"}[op]
		if in != "" {
			return piece{col + in, []ssa.Value{v}}
		}
	}
	return piece{col + " " + op + " ?", []ssa.Value{v}}
}

func isByte(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.Uint8
}

// entries are the columns and values of a map; sure: these are all, and each is there
// whenever the instruction at runs.
func (r *Reader) entries(v ssa.Value, at ssa.Instruction) (out []assign, sure bool) {
	m, ok := r.mapOf(v)
	if !ok {
		return nil, false
	}
	sure = true
	for _, u := range updates(m) {
		k, ok := constString(u.Key)
		if !ok {
			sure = false
			continue
		}
		sure = sure && (at == nil || u.Parent() == at.Parent() && u.Block().Dominates(at.Block()))
		out = append(out, assign{k, param(u.Value)})
	}
	for _, in := range *m.Referrers() {
		c, ok := in.(*ssa.Call)
		if !ok {
			continue
		}
		if obj := ir.Object(&c.Call); builderOf(obj) == nil && !inPackage(obj, clausePath) {
			sure = false // somebody may add to it
		}
	}
	return out, sure
}

// mapOf returns the map that v is, made in its own function.
func (r *Reader) mapOf(v ssa.Value) (*ssa.MakeMap, bool) {
	v = plain(v)
	if ld, ok := v.(*ssa.UnOp); ok {
		if root := origin.Root(r.Pkg, ld.X); root != nil {
			v = plain(onlyStore(root))
		}
	}
	m, ok := v.(*ssa.MakeMap)
	return m, ok
}

// updates are the entries that are put into a map, also by its variable.
func updates(m *ssa.MakeMap) []*ssa.MapUpdate {
	var out []*ssa.MapUpdate
	var from func(v ssa.Value, depth int)
	from = func(v ssa.Value, depth int) {
		for _, in := range *v.Referrers() {
			switch in := in.(type) {
			case *ssa.MapUpdate:
				if in.Map == v {
					out = append(out, in)
				}
			case *ssa.ChangeType:
				if depth < 2 {
					from(in, depth+1)
				}
			}
		}
	}
	from(m, 0)
	return out
}

// Entries returns what the map m, made in place, has under a constant key.
func Entries(m *ssa.MakeMap, key string) []ssa.Value {
	var out []ssa.Value
	for _, u := range updates(m) {
		if k, ok := constString(u.Key); ok && k == key {
			out = append(out, u.Value)
		}
	}
	return out
}

func inPackage(f *types.Func, path string) bool {
	return f != nil && f.Pkg() != nil && f.Pkg().Path() == path
}

func constString(v ssa.Value) (string, bool) {
	c, ok := plain(v).(*ssa.Const)
	if !ok || c.Value == nil || c.Value.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(c.Value), true
}

// isTrue tells whether v is the constant true.
func isTrue(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value != nil && c.Value.Kind() == constant.Bool && constant.BoolVal(c.Value)
}

// plain looks through conversions.
func plain(v ssa.Value) ssa.Value {
	for {
		switch x := v.(type) {
		case *ssa.MakeInterface:
			v = x.X
		case *ssa.ChangeType:
			v = x.X
		case *ssa.ChangeInterface:
			v = x.X
		default:
			return v
		}
	}
}
