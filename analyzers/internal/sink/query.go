package sink

// This file writes down the statement that a query builder renders.

import (
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/internal/sqlstmt"
)

// UnknownColumn stands in a reconstructed statement for columns out of sight.
const UnknownColumn = "fence_unknown"

// piece is a part of a statement and what it binds, one value for each "?" (nil:
// not known).
type piece struct {
	text string
	args []ssa.Value
}

// param is one bound value.
func param(v ssa.Value) piece { return piece{"?", []ssa.Value{v}} }

// assign is column = value. Without a column the value is the whole assignment.
type assign struct {
	column string
	value  piece
}

var unknownAssign = assign{UnknownColumn, param(nil)}

// cond is one condition. It is AND-ed to those before it, or OR-ed; raw: the
// builder puts no parentheses around it.
type cond struct {
	piece
	or, raw bool
}

// query is a statement under reconstruction. What a builder's methods add is kept
// apart, so that their order does not matter where it does not for the builder.
type query struct {
	verb    string
	table   string // "": not known
	label   string // what people call the table if it is not known
	alias   string
	with    []piece  // name AS (statement)
	columns []string // of an INSERT or SELECT
	values  []piece  // of an INSERT, one for each column
	set     []assign
	joins   []piece
	where   []cond
	on      string // of an INSERT: CONFLICT (name) DO UPDATE
	tail    []piece
	lock    string // of a SELECT: UPDATE, SHARE
	replace bool
	ignore  bool
	vague   bool // there may be more to it than is in sight

	model  model
	only   []string // the columns that an update is restricted to
	scoped bool     // gorm's Unscoped
	handle ssa.Value
}

// copy returns a query that can be added to without changing q.
func (q *query) copy() query {
	out := *q
	out.with, out.columns, out.values = slices.Clone(q.with), slices.Clone(q.columns), slices.Clone(q.values)
	out.set, out.joins, out.where = slices.Clone(q.set), slices.Clone(q.joins), slices.Clone(q.where)
	out.tail, out.only = slices.Clone(q.tail), slices.Clone(q.only)
	return out
}

func (q *query) and(p piece) { q.where = append(q.where, cond{piece: p}) }

// writer joins pieces.
type writer struct {
	strings.Builder
	args []ssa.Value
}

func (w *writer) add(p piece) {
	w.WriteString(p.text)
	w.args = append(w.args, p.args...)
}

// text writes the statement down, with a hole where it is not known.
func (q *query) text() piece {
	w := &writer{}
	for i, p := range q.with {
		w.WriteString([]string{"WITH ", ", "}[min(i, 1)])
		w.add(p)
		if i == len(q.with)-1 {
			w.WriteString(" ")
		}
	}
	switch q.verb {
	case "UPDATE":
		w.WriteString("UPDATE " + q.from() + " SET ")
		w.assigns(q.set)
		w.conds(q.where, q.vague)
	case "DELETE":
		w.WriteString("DELETE FROM " + q.from())
		w.conds(q.where, q.vague)
	case "INSERT":
		q.insert(w)
	case "SELECT":
		q.selects(w)
	default:
		return piece{text: sqlstmt.Hole}
	}
	for _, p := range q.tail {
		w.WriteString(" ")
		w.add(p)
	}
	return piece{w.String(), w.args}
}

func (q *query) from() string {
	out := q.table
	if out == "" {
		out = sqlstmt.Hole
	}
	if q.alias != "" {
		out += " AS " + q.alias
	}
	return out
}

func (q *query) insert(w *writer) {
	switch {
	case q.replace:
		w.WriteString("INSERT OR REPLACE INTO ")
	default:
		w.WriteString("INSERT INTO ")
	}
	columns, values := q.columns, q.values
	if len(columns) == 0 {
		columns, values = []string{UnknownColumn}, []piece{param(nil)}
	}
	w.WriteString(q.from() + " (" + strings.Join(columns, ", ") + ") VALUES (")
	for i := range columns {
		if i > 0 {
			w.WriteString(", ")
		}
		if i < len(values) {
			w.add(values[i])
		} else {
			w.add(param(nil))
		}
	}
	w.WriteString(")")
	if q.ignore {
		w.WriteString(" ON CONFLICT DO NOTHING")
	}
	if q.on != "" {
		q.conflict(w)
	}
	if q.vague {
		w.WriteString(" " + sqlstmt.Hole)
	}
}

// conflict writes an upsert's second half.
func (q *query) conflict(w *writer) {
	w.WriteString(" ON " + q.on)
	on := strings.ToUpper(q.on)
	if !strings.Contains(on, "UPDATE") {
		return
	}
	if !strings.Contains(on, " SET ") {
		if !strings.Contains(on, "DUPLICATE") {
			w.WriteString(" SET")
		}
		w.WriteString(" ")
		w.assigns(q.set)
	}
	w.conds(q.where, false)
}

func (q *query) selects(w *writer) {
	columns := append(slices.Clone(q.columns), q.only...)
	if len(columns) == 0 {
		columns = []string{"*"}
	}
	w.WriteString("SELECT " + strings.Join(columns, ", ") + " FROM " + q.from())
	for _, p := range q.joins {
		w.WriteString(" ")
		w.add(p)
	}
	w.conds(q.where, q.vague)
	if q.lock != "" {
		w.WriteString(" FOR " + q.lock)
	}
}

func (w *writer) assigns(set []assign) {
	if len(set) == 0 {
		set = []assign{unknownAssign}
	}
	for i, a := range set {
		if i > 0 {
			w.WriteString(", ")
		}
		if a.column != "" {
			w.WriteString(a.column + " = ")
		}
		w.add(a.value)
	}
}

// conds writes a WHERE. One that may have more conditions ends in a hole.
func (w *writer) conds(cs []cond, vague bool) {
	if vague {
		cs = append(slices.Clip(cs), cond{piece: piece{text: sqlstmt.Hole}, raw: true})
	}
	for i, c := range cs {
		switch {
		case i == 0:
			w.WriteString(" WHERE ")
		case c.or:
			w.WriteString(" OR ")
		default:
			w.WriteString(" AND ")
		}
		if c.raw {
			w.add(c.piece)
			continue
		}
		w.WriteString("(")
		w.add(c.piece)
		w.WriteString(")")
	}
}

// group returns conditions as one piece.
func group(cs []cond) piece {
	if len(cs) == 1 {
		return cs[0].piece
	}
	w := &writer{}
	w.conds(cs, false)
	return piece{strings.TrimPrefix(w.String(), " WHERE "), w.args}
}

// bare is the query with all that cannot be parsed out of sight.
func (q *query) bare() query {
	return query{verb: q.verb, table: q.table, vague: true}
}

// reserved are words that cannot stand for a column or a table unquoted.
var reserved = map[string]bool{
	"order": true, "user": true, "group": true, "table": true, "end": true, "default": true, "desc": true, "asc": true,
	"limit": true, "offset": true, "check": true, "column": true, "select": true, "where": true, "from": true, "to": true,
	"all": true, "any": true, "case": true, "when": true, "then": true, "else": true, "references": true, "primary": true,
	"foreign": true, "constraint": true, "create": true, "using": true, "with": true, "window": true, "union": true,
	"unique": true, "and": true, "or": true, "not": true, "null": true, "on": true, "in": true, "is": true, "as": true,
	"grant": true, "leading": true, "trailing": true, "both": true, "fetch": true, "for": true, "having": true, "into": true,
	"do": true, "only": true, "placing": true, "returning": true, "some": true, "symmetric": true, "variadic": true,
}

// ident keeps what is a plain name, quoted if it has to be.
func ident(s string) string {
	if table, ok := strings.CutPrefix(s, sqlstmt.Hole+"."); ok && !strings.Contains(table, sqlstmt.Hole) {
		return sqlstmt.Hole + "." + ident(table) // in a schema that is known at run time
	}
	if s == "" || strings.ContainsFunc(s, func(c rune) bool {
		return c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	}) {
		return sqlstmt.Hole
	}
	parts := strings.Split(s, ".")
	for i, p := range parts {
		if reserved[strings.ToLower(p)] {
			parts[i] = `"` + p + `"`
		}
	}
	return strings.Join(parts, ".")
}

// tableName reads "jobs", "jobs j" and "jobs AS j".
func tableName(text string) (table, alias string) {
	w := strings.Fields(text)
	switch {
	case len(w) == 0:
		return "", ""
	case len(w) == 2:
		alias = ident(w[1])
	case len(w) == 3 && strings.EqualFold(w[1], "AS"):
		alias = ident(w[2])
	}
	return ident(strings.Trim(w[0], "`\"")), strings.ReplaceAll(alias, sqlstmt.Hole, "")
}
