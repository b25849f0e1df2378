package sink

// This file rebuilds gorm's statements.

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/internal/sqlstmt"
)

const (
	gormPath   = "gorm.io/gorm"
	clausePath = "gorm.io/gorm/clause"
)

var gorm builder

func init() { // the steps need the builder to follow a chain within a chain
	gorm = builder{
		path: gormPath,
		verbs: map[string]string{"DB": "", "Interface": "", "CreateInterface": "", "ChainInterface": "",
			"SetUpdateOnlyInterface": "", "SetCreateOrUpdateInterface": "", "ExecInterface": ""},
		steps:   gormSteps,
		ends:    gormEnds,
		inline:  gormInline,
		mutable: true,
	}
}

// gormSessions are methods after which a chain is a database again: what is built
// on one does not change it.
var gormSessions = map[string]bool{"WithContext": true, "Debug": true, "Begin": true, "Session": true, "Open": true}

// gormSteps is what each method in the middle of a chain adds.
var gormSteps = map[string]step{
	"WithContext": neutral, "Debug": neutral, "Begin": neutral, "Session": (*Reader).gormSession,
	"Set": neutral, "InstanceSet": neutral, "Open": neutral,
	"Order": neutral, "Limit": neutral, "Offset": neutral, "Group": neutral, "Having": neutral, "Distinct": neutral,
	"Preload": neutral, "Attrs": neutral, "Assign": neutral, "MapColumns": neutral,

	"G":        (*Reader).gormGeneric,
	"Model":    func(r *Reader, q *query, c *ssa.CallCommon) { r.gormModel(q, Arg(c, 0)) },
	"Table":    (*Reader).gormTable,
	"Select":   func(r *Reader, q *query, c *ssa.CallCommon) { r.gormSelect(q, c) },
	"Omit":     neutral, // it takes away from what is unknown anyhow
	"Where":    func(r *Reader, q *query, c *ssa.CallCommon) { r.gormWhere(q, c, false, false) },
	"Not":      func(r *Reader, q *query, c *ssa.CallCommon) { r.gormWhere(q, c, true, false) },
	"Or":       func(r *Reader, q *query, c *ssa.CallCommon) { r.gormWhere(q, c, false, true) },
	"Clauses":  (*Reader).gormClauses,
	"Unscoped": func(_ *Reader, q *query, _ *ssa.CallCommon) { q.scoped = true },

	// The generics API's Set takes assignments, not a setting.
	"CreateInterface.Set": vague, "ChainInterface.Set": vague, "Interface.Set": vague,
}

// gormEnds are the methods that send a statement.
var gormEnds = map[string]step{
	"DB.Update":          func(r *Reader, q *query, c *ssa.CallCommon) { r.gormUpdate(q, c, 0) },
	"DB.UpdateColumn":    func(r *Reader, q *query, c *ssa.CallCommon) { r.gormUpdate(q, c, 0) },
	"DB.Updates":         func(r *Reader, q *query, c *ssa.CallCommon) { r.gormUpdates(q, c, 0) },
	"DB.UpdateColumns":   func(r *Reader, q *query, c *ssa.CallCommon) { r.gormUpdates(q, c, 0) },
	"DB.Save":            (*Reader).gormSave,
	"DB.Create":          func(r *Reader, q *query, c *ssa.CallCommon) { r.gormCreate(q, Arg(c, 0)) },
	"DB.CreateInBatches": func(r *Reader, q *query, c *ssa.CallCommon) { r.gormCreate(q, Arg(c, 0)) },
	"DB.Delete":          (*Reader).gormDelete,
	"DB.First":           (*Reader).gormFind, "DB.Take": (*Reader).gormFind, "DB.Last": (*Reader).gormFind,
	"DB.Find": (*Reader).gormFind, "DB.Scan": (*Reader).gormFind, "DB.Count": (*Reader).gormFind,
	"DB.Pluck": (*Reader).gormFind, "DB.Row": (*Reader).gormFind, "DB.Rows": (*Reader).gormFind,

	// The generics API: a context comes first, and the model is the type argument.
	"CreateInterface.Update":            func(r *Reader, q *query, c *ssa.CallCommon) { r.gormUpdate(q, c, 1) },
	"ChainInterface.Update":             func(r *Reader, q *query, c *ssa.CallCommon) { r.gormUpdate(q, c, 1) },
	"CreateInterface.Updates":           func(r *Reader, q *query, c *ssa.CallCommon) { r.gormUpdates(q, c, 1) },
	"ChainInterface.Updates":            func(r *Reader, q *query, c *ssa.CallCommon) { r.gormUpdates(q, c, 1) },
	"CreateInterface.Create":            func(r *Reader, q *query, c *ssa.CallCommon) { r.gormCreate(q, Arg(c, 1)) },
	"CreateInterface.CreateInBatches":   func(r *Reader, q *query, c *ssa.CallCommon) { r.gormCreate(q, Arg(c, 1)) },
	"CreateInterface.Delete":            func(_ *Reader, q *query, _ *ssa.CallCommon) { q.verb = "DELETE" },
	"ChainInterface.Delete":             func(_ *Reader, q *query, _ *ssa.CallCommon) { q.verb = "DELETE" },
	"SetUpdateOnlyInterface.Update":     func(_ *Reader, q *query, _ *ssa.CallCommon) { q.verb = "UPDATE" },
	"SetCreateOrUpdateInterface.Update": func(_ *Reader, q *query, _ *ssa.CallCommon) { q.verb = "UPDATE" },
	"SetCreateOrUpdateInterface.Create": func(_ *Reader, q *query, _ *ssa.CallCommon) { q.verb = "INSERT" },
	"ExecInterface.First":               gormRead, "ExecInterface.Take": gormRead, "ExecInterface.Find": gormRead,
	"ExecInterface.Last": gormRead, "ExecInterface.Scan": gormRead,
}

func gormRead(_ *Reader, q *query, _ *ssa.CallCommon) { q.verb = "SELECT" }

// gormSession: a session may start afresh.
func (r *Reader) gormSession(q *query, c *ssa.CallCommon) {
	lit := r.literal(Arg(c, 0))
	if lit == nil {
		q.vague = true
		return
	}
	if v := fieldOf(lit, "NewDB"); v != nil {
		*q = query{handle: q.handle, vague: !isTrue(v)}
	}
}

// gormGeneric takes the model from the type argument of gorm.G[Job](db), and the
// clauses that it is given.
func (r *Reader) gormGeneric(q *query, c *ssa.CallCommon) {
	if n, ok := types.Unalias(c.Signature().Results().At(0).Type()).(*types.Named); ok && n.TypeArgs().Len() == 1 {
		r.modelOf(q, model{of: structOf(n.TypeArgs().At(0))})
	}
	r.clauses(q, Arg(c, 1))
}

// gormTable: "jobs", "jobs AS j"; a sub-select is no table.
func (r *Reader) gormTable(q *query, c *ssa.CallCommon) {
	t, ok := r.only(Arg(c, 0))
	if !ok {
		q.table, q.alias = sqlstmt.Hole, ""
		return
	}
	q.table, q.alias = tableName(t)
}

// gormModel takes the table's name from a model. A table that was named before
// stands.
func (r *Reader) gormModel(q *query, v ssa.Value) {
	v = plain(v)
	if n := structOf(v.Type()); n != nil {
		r.modelOf(q, model{n, v})
	}
}

func (r *Reader) modelOf(q *query, m model) {
	if m.of == nil {
		return
	}
	q.model = m
	if q.table != "" {
		return
	}
	q.label = r.ModelTable(m.of)
	name, has := r.tableMethod(m.of)
	switch {
	case !has:
		q.table = ident(q.label)
	case name != "":
		q.table = name
	}
}

// gormSelect restricts an update to columns.
func (r *Reader) gormSelect(q *query, c *ssa.CallCommon) {
	first, ok := r.only(Arg(c, 0))
	if !ok {
		return
	}
	q.only = nil
	for name := range strings.SplitSeq(first, ",") {
		q.only = append(q.only, column(strings.TrimSpace(name)))
	}
	if Arg(c, 1) == nil {
		return
	}
	vals, _ := origin.Variadic(Arg(c, 1))
	for _, v := range vals {
		t, _ := r.only(v)
		q.only = append(q.only, column(t))
	}
}

// gormWhere adds a condition.
func (r *Reader) gormWhere(q *query, c *ssa.CallCommon, not, or bool) {
	ps, ok := r.gormCondition(q, Arg(c, 0), Arg(c, 1))
	if !ok {
		q.vague = true
		return
	}
	if len(ps) == 0 {
		return
	}
	p := group(ps)
	if not {
		p.text = "NOT (" + p.text + ")"
	}
	q.where = append(q.where, cond{piece: p, or: or})
}

// gormCondition reads a condition of any of the forms that gorm takes: a text with
// values, a map, a struct, a key, a clause, a chain in parentheses.
func (r *Reader) gormCondition(q *query, v, list ssa.Value) ([]cond, bool) {
	v = plain(v)
	switch {
	case isString(v.Type()):
		p, ok := r.gormText(q, v, list)
		return []cond{{piece: p}}, ok
	case ir.IsNamed(v.Type(), gormPath, "DB"):
		qs := r.chain(&gorm, v, nil)
		if len(qs) != 1 || qs[0].vague {
			return nil, false
		}
		return qs[0].where, true
	case isMap(v.Type()):
		es, sure := r.entries(v, handed(v))
		return r.equals(es), sure && len(es) > 0
	case isKey(v.Type()):
		return []cond{{piece: r.compare(&gorm, "id", "=", v)}}, true
	}
	if n := ir.NamedOf(v.Type()); n != nil && n.Obj().Pkg() != nil && strings.HasPrefix(n.Obj().Pkg().Path(), clausePath) || types.IsInterface(v.Type()) {
		p, ok := r.clauseCondition(q, v)
		return []cond{{piece: p}}, ok
	}
	if root := r.literal(v); root != nil && structOf(v.Type()) != nil && !touched(root) {
		es := assigned(root)
		return r.equals(es), len(es) > 0
	}
	return nil, false
}

// handed returns where a map is handed on, after what is put into it.
func handed(v ssa.Value) ssa.Instruction {
	var last ssa.Instruction
	if v.Referrers() == nil {
		return nil
	}
	for _, in := range *v.Referrers() {
		if _, ok := in.(*ssa.MapUpdate); !ok {
			last = in
		}
	}
	return last
}

func isMap(t types.Type) bool {
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// isKey tells whether a value stands for a primary key: a number or a list of them.
func isKey(t types.Type) bool {
	if s, ok := t.Underlying().(*types.Slice); ok {
		t = s.Elem()
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0 && b.Kind() != types.Uint8
}

func (r *Reader) equals(es []assign) []cond {
	var out []cond
	for _, e := range es {
		out = append(out, cond{piece: r.compare(&gorm, column(e.column), "=", e.value.args[0])})
	}
	return out
}

// gormText reads a condition given as text: one word is a column, or a key.
func (r *Reader) gormText(q *query, text, list ssa.Value) (piece, bool) {
	p, ok := r.fragment(&gorm, q, text, list)
	if !ok {
		return piece{}, false
	}
	t, _ := r.only(text)
	t = strings.TrimSpace(t)
	vals, _ := origin.Variadic(list)
	switch {
	case strings.ContainsAny(t, "?@ ") || t == "":
		return p, t != ""
	case len(vals) == 1:
		return r.compare(&gorm, column(t), "=", vals[0]), true
	case strings.Trim(t, "0123456789") == "":
		return piece{text: "id = " + t}, true
	}
	return p, true
}

// clauseOps are the types of gorm's package clause that compare a column.
var clauseOps = map[string]string{"Eq": "=", "Neq": "<>", "Gt": ">", "Gte": ">=", "Lt": "<", "Lte": "<=", "Like": "LIKE"}

// clauseCondition reads clause.Eq{...} and its like, clause.And, clause.Or and
// gorm.Expr.
func (r *Reader) clauseCondition(q *query, v ssa.Value) (piece, bool) {
	if p, ok := gormInline(r, v); ok {
		return p, true
	}
	if c, ok := v.(*ssa.Call); ok {
		return r.clauseCall(q, c)
	}
	root := r.literal(v)
	op := clauseOps[typeName(v.Type())]
	if root == nil || op == "" {
		return piece{}, false
	}
	col := fieldOf(root, "Column")
	name, ok := "", false
	if col != nil {
		if name, ok = constString(col); !ok {
			if lit := r.literal(col); lit != nil && fieldOf(lit, "Name") != nil {
				name, ok = constString(fieldOf(lit, "Name"))
			}
		}
	}
	val := fieldOf(root, "Value")
	if !ok || val == nil {
		return piece{}, false
	}
	return r.compare(&gorm, column(name), op, val), true
}

func (r *Reader) clauseCall(q *query, c *ssa.Call) (piece, bool) {
	obj := ir.Object(&c.Call)
	if !inPackage(obj, clausePath) || obj.Name() != "And" && obj.Name() != "Or" {
		return piece{}, false
	}
	vals, ok := origin.Variadic(Arg(&c.Call, 0))
	if !ok || len(vals) == 0 {
		return piece{}, false
	}
	var cs []cond
	for _, v := range vals {
		p, ok := r.clauseCondition(q, plain(v))
		if !ok {
			return piece{}, false
		}
		cs = append(cs, cond{piece: p, or: obj.Name() == "Or"})
	}
	return group(cs), true
}

// gormInline renders gorm.Expr, clause.Expr and a chain used as a sub-select.
func gormInline(r *Reader, v ssa.Value) (piece, bool) {
	if ir.IsNamed(v.Type(), gormPath, "DB") {
		return piece{text: sqlstmt.Hole}, true
	}
	if !ir.IsNamed(v.Type(), clausePath, "Expr") {
		return piece{}, false
	}
	if c, ok := v.(*ssa.Call); ok && ir.Object(&c.Call) != nil && ir.Object(&c.Call).Name() == "Expr" {
		if p, ok := r.fragment(&gorm, &query{}, Arg(&c.Call, 0), Arg(&c.Call, 1)); ok {
			return p, true
		}
	}
	if root := r.literal(v); root != nil && fieldOf(root, "SQL") != nil {
		if p, ok := r.fragment(&gorm, &query{}, fieldOf(root, "SQL"), fieldOf(root, "Vars")); ok {
			return p, true
		}
	}
	return piece{text: sqlstmt.Hole}, true
}

// gormClauses reads Clauses(...).
func (r *Reader) gormClauses(q *query, c *ssa.CallCommon) { r.clauses(q, Arg(c, 0)) }

func (r *Reader) clauses(q *query, list ssa.Value) {
	if list == nil {
		return
	}
	vals, ok := origin.Variadic(list)
	q.vague = q.vague || !ok
	for _, v := range vals {
		v = plain(v)
		st, ok := clauseSteps[typeName(v.Type())]
		root := r.literal(v)
		switch {
		case ok && st == nil:
		case !ok || root == nil:
			q.vague = true
		default:
			st(r, q, root)
		}
	}
}

// clauseSteps is what each clause adds, by the name of its type; nil: nothing.
var clauseSteps = map[string]func(r *Reader, q *query, root *ssa.Alloc){
	"Returning":  nil,
	"OrderBy":    nil,
	"Locking":    (*Reader).gormLocking,
	"OnConflict": (*Reader).gormConflict,
	"Insert":     (*Reader).gormModifier,
	"Where":      (*Reader).gormWhereClause,
}

func (r *Reader) gormLocking(q *query, root *ssa.Alloc) {
	q.lock = "UPDATE"
	if v := fieldOf(root, "Strength"); v != nil {
		if s, ok := constString(v); ok && strings.EqualFold(s, "SHARE") {
			q.lock = "SHARE"
		}
	}
}

func (r *Reader) gormModifier(q *query, root *ssa.Alloc) {
	v := fieldOf(root, "Modifier")
	if v == nil {
		return
	}
	s, ok := constString(v)
	q.ignore = ok && strings.Contains(strings.ToUpper(s), "IGNORE")
	q.vague = q.vague || !q.ignore
}

func (r *Reader) gormWhereClause(q *query, root *ssa.Alloc) {
	cs, ok := r.expressions(q, fieldOf(root, "Exprs"))
	q.where = append(q.where, cs...)
	q.vague = q.vague || !ok
}

// expressions reads a list of clause.Expression.
func (r *Reader) expressions(q *query, list ssa.Value) ([]cond, bool) {
	if list == nil {
		return nil, false
	}
	vals, ok := origin.Variadic(list)
	var out []cond
	for _, v := range vals {
		p, known := r.clauseCondition(q, plain(v))
		if !known {
			ok = false
			continue
		}
		out = append(out, cond{piece: p})
	}
	return out, ok
}

// gormConflict reads clause.OnConflict: nothing, some columns, or all of them.
func (r *Reader) gormConflict(q *query, root *ssa.Alloc) {
	if v := fieldOf(root, "DoNothing"); v != nil {
		q.on = "CONFLICT DO NOTHING"
		q.vague = q.vague || !isTrue(v)
		return
	}
	q.on = "CONFLICT (" + UnknownColumn + ") DO UPDATE"
	q.set = []assign{{UnknownColumn, piece{text: "excluded." + UnknownColumn}}}
	if v := fieldOf(root, "DoUpdates"); v != nil {
		q.set = r.gormAssignments(plain(v))
	}
	exprs, has := within(r, root, "Where", "Exprs")
	if !has {
		return
	}
	cs, ok := r.expressions(q, exprs)
	q.where = cs
	q.vague = q.vague || !ok
}

// gormAssignments reads clause.AssignmentColumns and clause.Assignments.
func (r *Reader) gormAssignments(v ssa.Value) []assign {
	c, ok := v.(*ssa.Call)
	if !ok {
		return []assign{unknownAssign}
	}
	var out []assign
	switch obj := ir.Object(&c.Call); {
	case obj == nil:
	case obj.Name() == "AssignmentColumns":
		for _, col := range r.columnNames(Arg(&c.Call, 0)) {
			out = append(out, assign{col, piece{text: "excluded." + col}})
		}
	case obj.Name() == "Assignments":
		out = r.assignments(&gorm, Arg(&c.Call, 0))
	}
	if len(out) == 0 {
		return []assign{unknownAssign}
	}
	return out
}

// assignments are the columns that a map sets.
func (r *Reader) assignments(b *builder, v ssa.Value) []assign {
	es, sure := r.entries(v, nil)
	var out []assign
	for _, e := range es {
		out = append(out, assign{column(e.column), r.value(b, e.value.args[0])})
	}
	if !sure || len(out) == 0 {
		out = append(out, unknownAssign)
	}
	return out
}

// GormLocks tells whether a call makes gorm lock the rows it reads:
// Clauses(clause.Locking{...}).
func (r *Reader) GormLocks(c *ssa.CallCommon) bool {
	obj := ir.Object(c)
	if !inPackage(obj, gormPath) || obj.Name() != "Clauses" {
		return false
	}
	list := Arg(c, 0)
	if list == nil {
		return false
	}
	vals, _ := origin.Variadic(list)
	return slices.ContainsFunc(vals, func(v ssa.Value) bool {
		return ir.IsNamed(plain(v).Type(), clausePath, "Locking")
	})
}

// gormUpdate is Update(column, value); arguments before first do not count.
func (r *Reader) gormUpdate(q *query, c *ssa.CallCommon, first int) {
	q.verb = "UPDATE"
	name, _ := r.only(Arg(c, first))
	q.set = []assign{{column(name), r.value(&gorm, Arg(c, first+1))}}
	r.gormKey(q)
}

// gormUpdates is Updates(map or struct).
func (r *Reader) gormUpdates(q *query, c *ssa.CallCommon, first int) {
	q.verb = "UPDATE"
	v := plain(Arg(c, first))
	if q.model.of == nil || q.model.val == nil && q.table == "" {
		r.gormModel(q, v)
	}
	switch {
	case len(q.only) > 0:
		q.set = q.restricted()
	case isMap(v.Type()):
		q.set = r.assignments(&gorm, v)
	default:
		q.set = r.structAssigns(v)
	}
	r.gormKey(q)
}

// structAssigns are the columns that a struct sets: those of its literal that are not
// zero, or unknown ones.
func (r *Reader) structAssigns(v ssa.Value) []assign {
	root := r.literal(v)
	if root == nil || touched(root) {
		return []assign{unknownAssign}
	}
	out := assigned(root)
	if len(out) == 0 {
		return []assign{unknownAssign}
	}
	return out
}

// gormSave writes every column of what it is given, by its key.
func (r *Reader) gormSave(q *query, c *ssa.CallCommon) {
	q.verb = "UPDATE"
	r.gormModel(q, Arg(c, 0))
	q.set = q.restricted()
	r.gormKey(q)
}

// restricted are the columns that Select names, or unknown ones.
func (q *query) restricted() []assign {
	if len(q.only) == 0 {
		return []assign{unknownAssign}
	}
	var out []assign
	for _, col := range q.only {
		out = append(out, assign{col, param(nil)})
	}
	return out
}

// gormCreate inserts a struct, or each of a list.
func (r *Reader) gormCreate(q *query, v ssa.Value) {
	q.verb = "INSERT"
	r.gormModel(q, v)
	if root := r.literal(v); root != nil && !touched(root) {
		for _, a := range assigned(root) {
			q.columns, q.values = append(q.columns, a.column), append(q.values, a.value)
		}
	}
}

// gormDelete deletes by the key of the model, or by conditions in the same call.
func (r *Reader) gormDelete(q *query, c *ssa.CallCommon) {
	q.verb = "DELETE"
	r.gormModel(q, Arg(c, 0))
	r.gormInlineConditions(q, Arg(c, 1))
	r.gormKey(q)
}

// gormFind reads: it is a site if it locks.
func (r *Reader) gormFind(q *query, c *ssa.CallCommon) {
	q.verb = "SELECT"
	if v := Arg(c, 0); v != nil && q.model.of == nil {
		r.gormModel(q, v)
	}
}

// gormInlineConditions reads the conditions of Delete(&job, "id = ?", id).
func (r *Reader) gormInlineConditions(q *query, list ssa.Value) {
	if list == nil {
		return
	}
	vals, ok := origin.Variadic(list)
	if !ok || len(vals) == 0 {
		q.vague = q.vague || !ok
		return
	}
	if t, isText := r.only(vals[0]); isText {
		p := r.bind(&gorm, q, t, vals[1:])
		if !strings.ContainsAny(t, "?@ =") {
			p = piece{text: "id = ?", args: vals[:1]}
		}
		q.and(p)
		return
	}
	cs, known := r.gormCondition(q, vals[0], nil)
	q.where = append(q.where, cs...)
	q.vague = q.vague || !known
}

// gormKey adds what a model's value adds to an update: its key, and the predicates
// of its version columns.
func (r *Reader) gormKey(q *query) {
	m := q.model
	if m.of == nil || m.val == nil {
		if len(q.where) == 0 {
			q.and(piece{text: "id = ?", args: []ssa.Value{nil}})
		}
		return
	}
	root := r.literal(m.val)
	read := root == nil && !isNil(m.val) || root != nil && (touched(root) || created(root))
	if read || len(q.where) == 0 {
		for _, key := range primaryKeys(m.of) {
			q.and(piece{text: key + " = ?", args: []ssa.Value{nil}})
		}
	}
	if q.verb != "UPDATE" {
		return
	}
	for _, v := range versions(m.of) {
		switch {
		case q.scoped:
			q.vague = true // whether it counts then is the plugin's to say
		case read || root != nil && fieldOf(root, v.field) != nil && !zero(fieldOf(root, v.field)):
			q.and(piece{text: v.column + " = ?", args: []ssa.Value{nil}})
		}
	}
}

func isNil(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value == nil
}

// version is a field whose type adds a predicate to updates.
type version struct{ field, column string }

// versions returns the fields of a model whose type has gorm's UpdateClauses:
// optimistic locking.
func versions(n *types.Named) []version {
	s, ok := n.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	var out []version
	for i := range s.NumFields() {
		f := s.Field(i)
		ft := ir.NamedOf(f.Type())
		if ft == nil {
			continue
		}
		obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(ft), true, ft.Obj().Pkg(), "UpdateClauses")
		if m, ok := obj.(*types.Func); ok && !ir.IsNamed(ft, gormPath, "DeletedAt") && m.Type().(*types.Signature).Params().Len() == 1 {
			out = append(out, version{f.Name(), columnOf(tagOf(s, i), f)})
		}
	}
	return out
}
