package sink

// This file rebuilds bun's statements.

import (
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/internal/sqlstmt"
)

const bunPath = "github.com/uptrace/bun"

var bun builder

func init() { // the steps need the builder to follow a chain within a chain
	bun = builder{
		path:  bunPath,
		verbs: map[string]string{"UpdateQuery": "UPDATE", "DeleteQuery": "DELETE", "InsertQuery": "INSERT", "SelectQuery": "SELECT"},
		starts: map[string]bool{"NewUpdate": true, "NewDelete": true, "NewInsert": true, "NewSelect": true,
			"NewUpdateQuery": true, "NewDeleteQuery": true, "NewInsertQuery": true, "NewSelectQuery": true},
		steps:   bunSteps,
		ends:    bunEnds,
		inline:  bunInline,
		mutable: true,
	}
}

// bunSteps is what each method of a query adds.
var bunSteps = map[string]step{
	"NewUpdate": neutral, "NewDelete": neutral, "NewInsert": neutral, "NewSelect": neutral,
	"NewUpdateQuery": bunHandle, "NewDeleteQuery": bunHandle, "NewInsertQuery": bunHandle, "NewSelectQuery": bunHandle,
	"Conn": bunHandle,

	"Model":          (*Reader).bunModel,
	"Table":          (*Reader).bunTables,
	"TableExpr":      (*Reader).bunTableExpr,
	"ModelTableExpr": (*Reader).bunTableExpr,
	"With":           (*Reader).bunWith,

	"Set":           (*Reader).bunSet,
	"SetColumn":     (*Reader).bunValue,
	"Value":         (*Reader).bunValue,
	"Column":        (*Reader).bunColumn,
	"ExcludeColumn": neutral, "OmitZero": neutral, "ColumnExpr": neutral,

	"Where":        func(r *Reader, q *query, c *ssa.CallCommon) { r.bunWhere(q, c, false) },
	"WhereOr":      func(r *Reader, q *query, c *ssa.CallCommon) { r.bunWhere(q, c, true) },
	"WherePK":      (*Reader).bunKey,
	"WhereDeleted": neutral, "WhereAllWithDeleted": neutral,

	"On":      (*Reader).bunOn,
	"Ignore":  func(_ *Reader, q *query, _ *ssa.CallCommon) { q.ignore = true },
	"Replace": func(_ *Reader, q *query, _ *ssa.CallCommon) { q.replace = true },
	"For":     (*Reader).bunFor,

	"Returning": neutral, "Order": neutral, "OrderBy": neutral, "OrderExpr": neutral, "Limit": neutral, "Offset": neutral,
	"Comment": neutral, "ForceDelete": neutral, "Distinct": neutral, "DistinctOn": neutral, "Group": neutral, "GroupExpr": neutral,
	"Having": neutral, "Relation": neutral, "UseIndex": neutral, "IgnoreIndex": neutral, "ForceIndex": neutral, "Err": neutral,
	"Join": neutral, "JoinOn": neutral, "JoinOnOr": neutral,
	"UpdateQuery.Join": vague, "UpdateQuery.JoinOn": vague, "UpdateQuery.JoinOnOr": vague,
}

// bunEnds are the methods that send a statement.
var bunEnds = map[string]step{
	"UpdateQuery.Exec": bunEnd, "UpdateQuery.Scan": bunEnd,
	"DeleteQuery.Exec": bunEnd, "DeleteQuery.Scan": bunEnd,
	"InsertQuery.Exec": bunEnd, "InsertQuery.Scan": bunEnd,
	"SelectQuery.Exec": bunEnd, "SelectQuery.Scan": bunEnd, "SelectQuery.Rows": bunEnd,
}

// bunHandle takes the connection that a query is to run on.
func bunHandle(_ *Reader, q *query, c *ssa.CallCommon) {
	if v := Arg(c, 0); v != nil {
		q.handle = plain(v)
	}
}

// bunEnd fills in what bun takes from the model where the chain does not say it.
func bunEnd(r *Reader, q *query, _ *ssa.CallCommon) {
	switch {
	case q.verb == "UPDATE" && len(q.set) == 0:
		q.set = q.restricted()
	case q.verb == "INSERT" && len(q.columns) == 0 && q.model.val != nil:
		if root := r.literal(q.model.val); root != nil && !touched(root) {
			for _, a := range assigned(root) {
				q.columns, q.values = append(q.columns, a.column), append(q.values, a.value)
			}
		}
	}
	if q.on != "" && len(q.set) == 0 {
		q.set = []assign{{UnknownColumn, piece{text: "excluded." + UnknownColumn}}}
	}
}

func (r *Reader) bunModel(q *query, c *ssa.CallCommon) {
	v := plain(Arg(c, 0))
	n := structOf(v.Type())
	if n == nil {
		return
	}
	q.model = model{n, v}
	if q.table == "" {
		q.table, q.alias = bunTable(n)
	}
}

func (r *Reader) bunTables(q *query, c *ssa.CallCommon) {
	ts, ok := r.texts(Arg(c, 0))
	if !ok || len(ts) == 0 {
		q.table, q.alias = sqlstmt.Hole, ""
		return
	}
	q.table, q.alias = tableName(ts[0])
	q.vague = q.vague || len(ts) > 1
}

func (r *Reader) bunTableExpr(q *query, c *ssa.CallCommon) {
	p, ok := r.fragment(&bun, q, Arg(c, 0), Arg(c, 1))
	if !ok || len(p.args) > 0 {
		q.table, q.alias = sqlstmt.Hole, ""
		return
	}
	q.table, q.alias = tableName(p.text)
}

// bunWith adds a CTE, if all of it is in sight.
func (r *Reader) bunWith(q *query, c *ssa.CallCommon) {
	name, ok := r.only(Arg(c, 0))
	qs := r.chain(&bun, Arg(c, 1), nil)
	if !ok || len(qs) != 1 || qs[0].verb == "" {
		q.vague = true
		return
	}
	p := qs[0].text()
	q.with = append(q.with, piece{ident(name) + " AS (" + p.text + ")", p.args})
}

// bunSet adds an assignment given as text: "attempt = attempt + 1".
func (r *Reader) bunSet(q *query, c *ssa.CallCommon) {
	p, ok := r.fragment(&bun, q, Arg(c, 0), Arg(c, 1))
	if !ok {
		q.set = append(q.set, unknownAssign)
		return
	}
	q.set = append(q.set, assign{value: p})
}

// bunValue gives one column an expression: Value and SetColumn.
func (r *Reader) bunValue(q *query, c *ssa.CallCommon) {
	name, _ := r.only(Arg(c, 0))
	p, ok := r.fragment(&bun, q, Arg(c, 1), Arg(c, 2))
	if !ok {
		p = param(nil)
	}
	q.set = append(q.set, assign{column(name), p})
	q.columns, q.values = append(q.columns, column(name)), append(q.values, p)
}

func (r *Reader) bunColumn(q *query, c *ssa.CallCommon) {
	q.only = append(q.only, r.columnNames(Arg(c, 0))...)
}

func (r *Reader) bunWhere(q *query, c *ssa.CallCommon, or bool) {
	p, ok := r.fragment(&bun, q, Arg(c, 0), Arg(c, 1))
	if !ok {
		q.vague = true
		return
	}
	q.where = append(q.where, cond{piece: p, or: or})
}

// bunKey compares the key of the model, or the columns named.
func (r *Reader) bunKey(q *query, c *ssa.CallCommon) {
	cols := r.columnNames(Arg(c, 0))
	if len(cols) == 0 && q.model.of != nil {
		cols = primaryKeys(q.model.of)
	}
	if len(cols) == 0 {
		cols = []string{"id"}
	}
	for _, col := range cols {
		if col == UnknownColumn {
			q.vague = true
			continue
		}
		q.and(piece{col + " = ?", []ssa.Value{nil}})
	}
}

// bunOn begins an upsert's second half; Set and Where go on with it.
func (r *Reader) bunOn(q *query, c *ssa.CallCommon) {
	p, ok := r.fragment(&bun, q, Arg(c, 0), Arg(c, 1))
	if !ok || len(p.args) > 0 {
		q.vague = true
		return
	}
	q.on = p.text
}

func (r *Reader) bunFor(q *query, c *ssa.CallCommon) {
	if t, ok := r.only(Arg(c, 0)); ok {
		q.lock = strings.ToUpper(t)
	}
}

// bunInline renders bun.Ident, bun.Safe and a query used as a sub-select. A list is one
// parameter.
func bunInline(r *Reader, v ssa.Value) (piece, bool) {
	n := ir.NamedOf(v.Type())
	if n == nil || n.Obj().Pkg() == nil || !strings.HasPrefix(n.Obj().Pkg().Path(), bunPath) {
		return piece{}, false
	}
	switch n.Obj().Name() {
	case "Ident", "Name":
		if t, ok := r.only(v); ok {
			return piece{text: ident(t)}, true
		}
	case "Safe":
		if t, ok := r.only(v); ok {
			return piece{text: t}, true
		}
	case "SelectQuery":
		if qs := r.chain(&bun, v, nil); len(qs) == 1 && !qs[0].vague {
			return qs[0].text(), true
		}
	default:
		return piece{}, false
	}
	return piece{text: sqlstmt.Hole}, true
}
