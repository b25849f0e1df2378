package sink

// This file rebuilds squirrel's statements.

import (
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/internal/sqlstmt"
)

const squirrelPath = "github.com/Masterminds/squirrel"

var squirrel builder

func init() { // the steps need the builder to follow a chain within a chain
	squirrel = builder{
		path: squirrelPath,
		verbs: map[string]string{"UpdateBuilder": "UPDATE", "DeleteBuilder": "DELETE", "InsertBuilder": "INSERT", "SelectBuilder": "SELECT",
			"StatementBuilderType": "", "Sqlizer": ""},
		steps:  squirrelSteps,
		ends:   squirrelEnds,
		inline: squirrelInline,
	}
}

// squirrelSteps is what each function and method adds.
var squirrelSteps = map[string]step{
	"Update": (*Reader).squirrelTable, "Insert": (*Reader).squirrelTable, "Delete": (*Reader).squirrelTable,
	"Replace": func(r *Reader, q *query, c *ssa.CallCommon) { r.squirrelTable(q, c); q.replace = true },
	"Table":   (*Reader).squirrelTable, "Into": (*Reader).squirrelTable, "From": (*Reader).squirrelTable,
	"UpdateBuilder.From": vague, "FromSelect": vague,

	"Select": (*Reader).squirrelColumns, "Columns": (*Reader).squirrelColumns,
	"InsertBuilder.Select": vague,
	"Column":               (*Reader).squirrelColumn,
	"RemoveColumns":        func(_ *Reader, q *query, _ *ssa.CallCommon) { q.columns = nil },
	"Values":               (*Reader).squirrelValues,
	"Set":                  (*Reader).squirrelSet,
	"SetMap":               (*Reader).squirrelSetMap,
	"Where":                (*Reader).squirrelWhere,
	"Suffix":               (*Reader).squirrelSuffix,
	"SuffixExpr":           (*Reader).squirrelSuffixExpr,
	"Prefix":               vague, "PrefixExpr": vague, "InsertBuilder.Options": (*Reader).squirrelOptions, "SelectBuilder.Options": neutral,

	"Join": joined("JOIN"), "InnerJoin": joined("INNER JOIN"), "LeftJoin": joined("LEFT JOIN"),
	"RightJoin": joined("RIGHT JOIN"), "CrossJoin": joined("CROSS JOIN"), "JoinClause": joined(""),

	"RunWith":           (*Reader).squirrelRunWith,
	"PlaceholderFormat": neutral, "OrderBy": neutral, "OrderByClause": neutral, "Limit": neutral, "Offset": neutral, "GroupBy": neutral,
	"Having": neutral, "Distinct": neutral, "RemoveLimit": neutral, "RemoveOffset": neutral,
}

// squirrelEnds are the methods that send a statement.
var squirrelEnds = map[string]step{
	"Exec": neutral, "ExecContext": neutral, "Query": neutral, "QueryContext": neutral,
	"QueryRow": neutral, "QueryRowContext": neutral,
	"SelectBuilder.Scan": neutral, "UpdateBuilder.Scan": neutral, "InsertBuilder.Scan": neutral, "DeleteBuilder.Scan": neutral,
	"SelectBuilder.ScanContext": neutral, "UpdateBuilder.ScanContext": neutral, "InsertBuilder.ScanContext": neutral,
	"DeleteBuilder.ScanContext": neutral,
}

func (r *Reader) squirrelTable(q *query, c *ssa.CallCommon) {
	t, ok := r.onlyTable(Arg(c, 0))
	if !ok {
		q.table, q.alias = sqlstmt.Hole, ""
		return
	}
	q.table, q.alias = tableName(t)
}

func (r *Reader) squirrelRunWith(q *query, c *ssa.CallCommon) {
	if v := Arg(c, 0); v != nil {
		q.handle = plain(v)
	}
}

// squirrelColumns adds columns. Those of a SELECT are expressions.
func (r *Reader) squirrelColumns(q *query, c *ssa.CallCommon) {
	ts, ok := r.texts(Arg(c, 0))
	q.columns = append(q.columns, ts...)
	if !ok {
		q.columns = append(q.columns, UnknownColumn)
	}
}

func (r *Reader) squirrelColumn(q *query, c *ssa.CallCommon) {
	if t, ok := r.only(Arg(c, 0)); ok {
		q.columns = append(q.columns, t)
		return
	}
	q.columns = append(q.columns, UnknownColumn)
}

// squirrelValues adds a row; what is asked of an INSERT is answered by the first.
func (r *Reader) squirrelValues(q *query, c *ssa.CallCommon) {
	if len(q.values) > 0 {
		return
	}
	for _, v := range listOf(Arg(c, 0)) {
		q.values = append(q.values, r.value(&squirrel, v))
	}
}

func (r *Reader) squirrelSet(q *query, c *ssa.CallCommon) {
	name, _ := r.only(Arg(c, 0))
	q.set = append(q.set, assign{column(name), r.value(&squirrel, Arg(c, 1))})
}

func (r *Reader) squirrelSetMap(q *query, c *ssa.CallCommon) {
	for _, a := range r.assignments(&squirrel, Arg(c, 0)) {
		q.set = append(q.set, a)
		q.columns, q.values = append(q.columns, a.column), append(q.values, a.value)
	}
}

// squirrelWhere adds a condition, which squirrel puts in no parentheses.
func (r *Reader) squirrelWhere(q *query, c *ssa.CallCommon) {
	if n, ok := plain(Arg(c, 0)).(*ssa.Const); ok && n.Value == nil {
		return
	}
	p, ok := r.squirrelCondition(q, Arg(c, 0), Arg(c, 1))
	if !ok {
		q.vague = true
		return
	}
	if p.text != "" {
		q.where = append(q.where, cond{piece: p, raw: true})
	}
}

// squirrelOps are the map types that compare columns.
var squirrelOps = map[string]string{"Eq": "=", "NotEq": "<>", "Lt": "<", "LtOrEq": "<=", "Gt": ">", "GtOrEq": ">=",
	"Like": "LIKE", "NotLike": "NOT LIKE", "ILike": "ILIKE", "NotILike": "NOT ILIKE"}

// squirrelCondition reads a condition: a text with values, a map, And, Or, Expr.
func (r *Reader) squirrelCondition(q *query, v, list ssa.Value) (piece, bool) {
	v = plain(v)
	if isString(v.Type()) {
		return r.fragment(&squirrel, q, v, list)
	}
	if p, ok := squirrelInline(r, v); ok {
		return p, p.text != sqlstmt.Hole
	}
	name := typeName(v.Type())
	switch {
	case isMap(v.Type()):
		op := squirrelOps[name]
		if op == "" {
			op = "="
		}
		return r.squirrelMap(v, op)
	case name == "And" || name == "Or" || name == "conj":
		return r.squirrelConj(q, v, name == "Or")
	}
	return piece{}, false
}

func (r *Reader) squirrelMap(v ssa.Value, op string) (piece, bool) {
	es, sure := r.entries(v, handed(v))
	var cs []cond
	for _, e := range es {
		cs = append(cs, cond{piece: r.compare(&squirrel, column(e.column), op, e.value.args[0]), raw: true})
	}
	return group(cs), sure && len(cs) > 0
}

// squirrelConj reads And{...} and Or{...}. What is appended later may be more.
func (r *Reader) squirrelConj(q *query, v ssa.Value, or bool) (piece, bool) {
	vals, ok := origin.Variadic(v)
	if !ok || len(vals) == 0 {
		return piece{}, false
	}
	var cs []cond
	for _, x := range vals {
		p, known := r.squirrelCondition(q, x, nil)
		if !known {
			return piece{}, false
		}
		cs = append(cs, cond{piece: p, or: or})
	}
	p := group(cs)
	return piece{"(" + p.text + ")", p.args}, true
}

// squirrelSuffix adds what follows: ON CONFLICT, RETURNING, FOR UPDATE.
func (r *Reader) squirrelSuffix(q *query, c *ssa.CallCommon) {
	p, ok := r.fragment(&squirrel, q, Arg(c, 0), Arg(c, 1))
	r.suffix(q, p, ok)
}

func (r *Reader) squirrelSuffixExpr(q *query, c *ssa.CallCommon) {
	p, ok := squirrelInline(r, plain(Arg(c, 0)))
	r.suffix(q, p, ok)
}

func (r *Reader) suffix(q *query, p piece, ok bool) {
	if !ok {
		p = piece{text: sqlstmt.Hole}
	}
	q.tail = append(q.tail, p)
}

// squirrelOptions reads INSERT's options, of which IGNORE is the one that counts.
func (r *Reader) squirrelOptions(q *query, c *ssa.CallCommon) {
	ts, ok := r.texts(Arg(c, 0))
	q.ignore = slices.ContainsFunc(ts, func(t string) bool { return strings.Contains(strings.ToUpper(t), "IGNORE") })
	q.vague = q.vague || !ok || !q.ignore
}

func joined(kind string) step {
	return func(r *Reader, q *query, c *ssa.CallCommon) {
		p, ok := r.fragment(&squirrel, q, Arg(c, 0), Arg(c, 1))
		if !ok {
			q.vague = true
			return
		}
		q.joins = append(q.joins, piece{strings.TrimSpace(kind + " " + p.text), p.args})
	}
}

// squirrelInline renders squirrel.Expr and a SELECT within a statement.
func squirrelInline(r *Reader, v ssa.Value) (piece, bool) {
	if c, ok := v.(*ssa.Call); ok {
		obj := ir.Object(&c.Call)
		if inPackage(obj, squirrelPath) && obj.Name() == "Expr" {
			if p, ok := r.fragment(&squirrel, &query{}, Arg(&c.Call, 0), Arg(&c.Call, 1)); ok {
				return p, true
			}
			return piece{text: sqlstmt.Hole}, true
		}
	}
	n := ir.NamedOf(v.Type())
	if n == nil || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != squirrelPath || squirrelOps[n.Obj().Name()] != "" ||
		slices.Contains([]string{"And", "Or", "conj"}, n.Obj().Name()) {
		return piece{}, false
	}
	if n.Obj().Name() == "SelectBuilder" {
		if qs := r.chain(&squirrel, v, nil); len(qs) == 1 && !qs[0].vague {
			return qs[0].text(), true
		}
	}
	return piece{text: sqlstmt.Hole}, true
}
