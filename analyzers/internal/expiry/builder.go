package expiry

import (
	"go/constant"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// whereMethods are builder methods that take a condition as text and its values.
var whereMethods = map[string]map[string]bool{
	"gorm.io/gorm":                    {"Where": true, "Or": true, "Not": true, "Having": true},
	"github.com/Masterminds/squirrel": {"Where": true, "Expr": true, "Having": true},
	"github.com/uptrace/bun":          {"Where": true, "WhereOr": true, "Having": true},
}

// tableMethods are builder methods whose first argument names a table or a
// model.
var tableMethods = map[string]bool{
	"From": true, "Join": true, "LeftJoin": true, "InnerJoin": true, "Update": true, "Delete": true, "Insert": true,
	"Table": true, "TableExpr": true, "ModelTableExpr": true, "Model": true, "JoinClause": true, "Find": true, "First": true, "Take": true, "Last": true,
}

// builderMaps are squirrel's map types that stand for ordered comparisons.
var builderMaps = map[string]bool{"Lt": true, "LtOrEq": true, "Gt": true, "GtOrEq": true}

// builderText looks at a builder's condition given as text.
func (r *Reader) builderText(c *ssa.Call) []Bound {
	obj := ir.Object(&c.Call)
	if obj == nil || obj.Pkg() == nil || !whereMethods[obj.Pkg().Path()][obj.Name()] {
		return nil
	}
	text, list := sink.Arg(&c.Call, 0), sink.Arg(&c.Call, 1)
	if text == nil || list == nil {
		return nil
	}
	args, ok := origin.Variadic(list)
	if !ok {
		return nil
	}
	var out []Bound
	for _, s := range r.Text.Texts(text) {
		sc := r.Sink.Parse("SELECT 1 FROM fence_builder WHERE "+sink.PlainIn(s), sqlstmt.Question)
		for _, st := range sc.Stmts {
			for _, t := range conditions(st) {
				out = append(out, r.builderCond(c, t.cond, args)...)
			}
		}
	}
	return out
}

func (r *Reader) builderCond(c *ssa.Call, cond sqlstmt.Cond, args []ssa.Value) []Bound {
	if !ordered(cond.Op) {
		return nil
	}
	var out []Bound
	for _, pair := range [][2]sqlstmt.Expr{{cond.Left, cond.Right}, {cond.Right, cond.Left}} {
		col, ok := column(pair[0])
		if !ok {
			continue
		}
		table, ok := r.builderColumn(c.Parent(), col)
		if !ok {
			continue
		}
		pair[1].Walk(func(e sqlstmt.Expr) {
			if e.Kind == sqlstmt.Param && e.N >= 1 && e.N <= len(args) {
				out = append(out, Bound{c.Pos(), join(table, col.Name), args[e.N-1]})
			}
		})
	}
	return out
}

// builderMap looks at squirrel's Lt{"column": value} and its like.
func (r *Reader) builderMap(m *ssa.MapUpdate) []Bound {
	n := ir.NamedOf(m.Map.Type())
	if n == nil || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != "github.com/Masterminds/squirrel" || !builderMaps[n.Obj().Name()] {
		return nil
	}
	k, ok := m.Key.(*ssa.Const)
	if !ok || k.Value == nil || k.Value.Kind() != constant.String {
		return nil
	}
	alias, col, qualified := strings.Cut(constant.StringVal(k.Value), ".")
	if !qualified {
		alias, col = "", alias
	}
	table, ok := r.builderColumn(m.Parent(), sqlstmt.Expr{Kind: sqlstmt.Column, Table: alias, Name: col})
	if !ok {
		return nil
	}
	pos := m.Pos()
	if !pos.IsValid() {
		pos = m.Map.Pos()
	}
	return []Bound{{pos, join(table, col), m.Value}}
}

// builderColumn tells whether a column of a statement built in fn decides
// ownership, and the table it belongs to. A column whose own name says so needs
// no table.
func (r *Reader) builderColumn(fn *ssa.Function, col sqlstmt.Expr) (string, bool) {
	for _, t := range r.builderTables(fn) {
		if col.Table != "" && !strings.EqualFold(col.Table, t.Alias) && !strings.EqualFold(col.Table, t.Name) {
			continue
		}
		if r.ownsColumn(t.Name, col.Name) {
			return t.Name, true
		}
	}
	return "", lease.Ownership.Has(col.Name) && r.ownsColumn("", col.Name)
}

// builderTables reads the tables of the statements that fn builds from the
// constant arguments of the builder's calls ("table", "table alias", the start
// of a JOIN clause) and from models.
func (r *Reader) builderTables(fn *ssa.Function) []sqlstmt.Table {
	var out []sqlstmt.Table
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			c, ok := in.(*ssa.Call)
			if !ok {
				continue
			}
			obj := ir.Object(&c.Call)
			if obj == nil || obj.Pkg() == nil || whereMethods[obj.Pkg().Path()] == nil || !tableMethods[obj.Name()] {
				continue
			}
			a := sink.Arg(&c.Call, 0)
			if a == nil {
				continue
			}
			if n := model(a); n != nil {
				table, alias := r.Sink.BuilderTable(obj.Pkg().Path(), n)
				out = append(out, sqlstmt.Table{Name: table, Alias: alias})
				continue
			}
			for _, t := range r.Text.Texts(a) {
				if tab, ok := tableOfClause(t); ok {
					out = append(out, tab)
				}
			}
		}
	}
	return out
}

// model returns the struct behind a model argument: &Job{}, *[]Job.
func model(a ssa.Value) *types.Named {
	mi, ok := a.(*ssa.MakeInterface)
	if !ok {
		return nil
	}
	t := mi.X.Type()
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if s, ok := t.Underlying().(*types.Slice); ok {
		t = s.Elem()
	}
	n := ir.NamedOf(t)
	if n == nil {
		return nil
	}
	if _, ok := n.Underlying().(*types.Struct); !ok {
		return nil
	}
	return n
}

func tableOfClause(text string) (sqlstmt.Table, bool) {
	w := strings.Fields(strings.ReplaceAll(text, sqlstmt.Hole, ""))
	if len(w) == 0 {
		return sqlstmt.Table{}, false
	}
	t := sqlstmt.Table{Name: w[0]}
	switch {
	case len(w) > 2 && strings.EqualFold(w[1], "AS"):
		t.Alias = w[2]
	case len(w) > 1 && !strings.EqualFold(w[1], "ON"):
		t.Alias = w[1]
	}
	return t, true
}
