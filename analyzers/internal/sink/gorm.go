package sink

import (
	"go/constant"
	"go/types"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/lease"
	"github.com/fencelint/fence/analyzers/internal/origin"
	"github.com/fencelint/fence/internal/sqlstmt"
)

const gormPath = "gorm.io/gorm"

// gormWrites maps the methods that end a chain with a write to its verb.
var gormWrites = map[string]string{
	"Save": "UPDATE", "Update": "UPDATE", "Updates": "UPDATE", "UpdateColumn": "UPDATE", "UpdateColumns": "UPDATE",
	"Delete": "DELETE", "Create": "INSERT",
}

// gormSite rebuilds the statement of a chain that ends in a write, or returns
// nil if call is no such end.
func (r *Reader) gormSite(call ssa.CallInstruction) *Site {
	c := call.Common()
	obj := ir.Object(c)
	if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != gormPath || receiverName(obj.Type().(*types.Signature)) != "DB" {
		return nil
	}
	verb, ok := gormWrites[obj.Name()]
	if !ok {
		return nil
	}
	q := &query{verb: verb}
	r.gormEnd(q, obj.Name(), c)
	r.chain(q, Receiver(c), gormPath, r.gormStep)
	s := &Site{Call: call, Spec: Spec{Store: SQL, Text: -1, Args: -1, Key: -1, Input: -1}, Handle: Receiver(c), Verb: verb}
	return r.built(s, q)
}

// UnknownColumn stands in a reconstructed statement for columns out of sight.
const UnknownColumn = "fence_unknown"

// query is a statement under reconstruction.
type query struct {
	verb    string
	table   string
	set     []string // columns
	where   []string // conditions, as SQL
	handled bool     // the chain says what to do on a conflict
	unclear bool
}

// text writes the statement down.
func (q *query) text() string {
	table := q.table
	if table == "" {
		table = sqlstmt.Hole
	}
	where := ""
	if len(q.where) > 0 {
		where = " WHERE (" + strings.Join(q.where, ") AND (") + ")"
	}
	switch q.verb {
	case "DELETE":
		return "DELETE FROM " + table + where
	case "INSERT":
		return "INSERT INTO " + table + " (" + UnknownColumn + ") VALUES (?)"
	}
	set := UnknownColumn + " = ?"
	if len(q.set) > 0 {
		set = strings.Join(q.set, " = ?, ") + " = ?"
	}
	return "UPDATE " + table + " SET " + set + where
}

// built judges a reconstructed statement.
func (r *Reader) built(s *Site, q *query) *Site {
	s.Texts = []string{q.text()}
	s.Scripts = []sqlstmt.Script{r.Parse(s.Texts[0], sqlstmt.Question)}
	r.judgeSQL(s)
	s.Target = q.table
	switch {
	case q.handled:
		s.Judge = Compared
	case q.unclear && s.Judge == Plain:
		s.Judge = Unclear
	}
	return s
}

// chain walks a builder's chain back from its last call and lets step read each
// method of package path on the way.
func (r *Reader) chain(q *query, from ssa.Value, path string, step func(*query, string, *ssa.CallCommon)) {
	complete := r.Trace.Walk(from, func(v, out ssa.Value) ([]ssa.Value, bool) {
		c, ok := v.(*ssa.Call)
		if !ok || out != nil {
			return nil, out != nil
		}
		obj := ir.Object(&c.Call)
		if obj == nil || obj.Pkg() == nil {
			q.unclear = true
			return nil, true
		}
		if obj.Pkg().Path() == path {
			step(q, obj.Name(), &c.Call)
			if recv := Receiver(&c.Call); recv != nil {
				return []ssa.Value{recv}, true
			}
			return nil, true
		}
		if callee := ir.Callee(&c.Call); callee == nil || callee.Pkg != r.Pkg.SSA {
			return nil, true // a function that hands out the database
		}
		return nil, false
	})
	if !complete {
		q.unclear = true
	}
}

// gormEnd reads the arguments of the method that ends the chain.
func (r *Reader) gormEnd(q *query, name string, c *ssa.CallCommon) {
	arg := Arg(c, 0)
	switch name {
	case "Update", "UpdateColumn":
		for _, col := range r.Text.Texts(arg) {
			q.set = append(q.set, ident(col))
		}
		return
	case "Updates", "UpdateColumns":
		q.set = append(q.set, r.columnsOf(arg)...)
	case "Delete":
		r.conditions(q, Arg(c, 1))
	}
	r.model(q, arg)
	if name == "Save" || len(q.where) == 0 && name != "Create" {
		q.where = append(q.where, "id = ?")
	}
}

// gormStep reads one method in the middle of the chain.
func (r *Reader) gormStep(q *query, name string, c *ssa.CallCommon) {
	switch name {
	case "Model":
		r.model(q, Arg(c, 0))
	case "Table":
		if t := r.Text.Texts(Arg(c, 0)); len(t) == 1 {
			q.table = ident(t[0])
		}
	case "Where":
		r.predicate(q, Arg(c, 0))
	case "Clauses":
		q.handled = q.handled || q.verb == "INSERT"
		q.unclear = true
	case "Scopes", "Joins", "Or", "Not", "Having":
		q.unclear = true
	}
}

// GormLocks tells whether a call makes gorm lock the rows it reads:
// Clauses(clause.Locking{...}).
func (r *Reader) GormLocks(c *ssa.CallCommon) bool {
	obj := ir.Object(c)
	if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != gormPath || obj.Name() != "Clauses" {
		return false
	}
	list := Arg(c, 0)
	if list == nil {
		return false
	}
	vals, _ := origin.Variadic(list)
	return slices.ContainsFunc(vals, func(v ssa.Value) bool {
		return ir.IsNamed(plain(v).Type(), "gorm.io/gorm/clause", "Locking")
	})
}

// bareIn is gorm's form of a list: "name IN ?".
var bareIn = regexp.MustCompile(`(?i)\bIN\s+\?`)

// PlainIn writes gorm's "IN ?" as SQL does.
func PlainIn(condition string) string { return bareIn.ReplaceAllString(condition, "IN (?)") }

// conditions reads a variadic list whose first element is a condition.
func (r *Reader) conditions(q *query, list ssa.Value) {
	if list == nil {
		return
	}
	vals, ok := origin.Variadic(list)
	if !ok {
		q.unclear = true
		return
	}
	if len(vals) > 0 {
		r.predicate(q, vals[0])
	}
}

// predicate reads one condition: a text, a map or a struct literal.
func (r *Reader) predicate(q *query, v ssa.Value) {
	v = plain(v)
	if isString(v.Type()) {
		for _, t := range r.Text.Texts(v) {
			q.where = append(q.where, PlainIn(t))
		}
		return
	}
	if cols := r.columnsOf(v); len(cols) > 0 {
		for _, c := range cols {
			q.where = append(q.where, c+" = ?")
		}
		return
	}
	if b, ok := v.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 {
		q.where = append(q.where, "id = ?")
		return
	}
	q.unclear = true
}

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

// columnsOf returns the columns that a map or struct literal names.
func (r *Reader) columnsOf(v ssa.Value) []string {
	v = plain(v)
	switch x := v.(type) {
	case *ssa.MakeMap:
		var out []string
		for _, in := range *x.Referrers() {
			if u, ok := in.(*ssa.MapUpdate); ok {
				if k, ok := u.Key.(*ssa.Const); ok && k.Value != nil && k.Value.Kind() == constant.String {
					out = append(out, ident(constant.StringVal(k.Value)))
				}
			}
		}
		return out
	case *ssa.UnOp:
		if root := origin.Root(r.Pkg, x.X); root != nil {
			return literalColumns(root)
		}
	case *ssa.Alloc:
		return literalColumns(x)
	}
	return nil
}

func literalColumns(root *ssa.Alloc) []string {
	var out []string
	for _, in := range *root.Referrers() {
		fa, ok := in.(*ssa.FieldAddr)
		if !ok {
			continue
		}
		for _, use := range *fa.Referrers() {
			if st, ok := use.(*ssa.Store); ok && st.Addr == fa {
				out = append(out, columnName(fa))
				break
			}
		}
	}
	return out
}

// columnName is what an ORM calls a field's column: the tag's, else snake case.
func columnName(fa *ssa.FieldAddr) string {
	tag := reflect.StructTag(ir.TagOf(fa.X.Type(), fa.Field))
	for part := range strings.SplitSeq(tag.Get("gorm"), ";") {
		if name, ok := strings.CutPrefix(part, "column:"); ok {
			return ident(name)
		}
	}
	if name, _, _ := strings.Cut(tag.Get("db"), ","); name != "" {
		return ident(name)
	}
	f := ir.FieldOf(fa.X.Type(), fa.Field)
	return strings.Join(lease.Words(f.Name()), "_")
}

// ident keeps what is a plain name.
func ident(s string) string {
	if s == "" || strings.ContainsFunc(s, func(c rune) bool {
		return c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	}) {
		return sqlstmt.Hole
	}
	return s
}

// ModelTable is what gorm calls the table of a model, its plural aside, which
// does not matter where two uses of the model are compared.
func ModelTable(n *types.Named) string { return strings.Join(lease.Words(n.Obj().Name()), "_") }

// model takes the table's name from a model. A field type that adds predicates
// (a version plugin) makes the statement unclear.
func (r *Reader) model(q *query, v ssa.Value) {
	n := ir.NamedOf(elem(plain(v).Type()))
	if n == nil {
		return
	}
	st, ok := n.Underlying().(*types.Struct)
	if !ok {
		return
	}
	if q.table == "" {
		q.table = ModelTable(n)
	}
	for i := range st.NumFields() {
		if ft := ir.NamedOf(st.Field(i).Type()); ft != nil && ft.Obj().Pkg() != nil && strings.Contains(ft.Obj().Pkg().Path(), "optimisticlock") {
			q.unclear = true
		}
	}
}

func elem(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if s, ok := t.Underlying().(*types.Slice); ok {
		t = s.Elem()
	}
	return t
}

// squirrelPath is the builder whose statements are also rebuilt for ToSql.
const squirrelPath = "github.com/Masterminds/squirrel"

var squirrelVerbs = map[string]string{"UpdateBuilder": "UPDATE", "DeleteBuilder": "DELETE", "InsertBuilder": "INSERT"}

// squirrelSite rebuilds the statement of a chain that ends in Exec.
func (r *Reader) squirrelSite(call ssa.CallInstruction) *Site {
	c := call.Common()
	q := r.squirrelQuery(c)
	if q == nil || !slices.Contains([]string{"Exec", "ExecContext"}, ir.Object(c).Name()) {
		return nil
	}
	s := &Site{Call: call, Spec: Spec{Store: SQL, Text: -1, Args: -1, Key: -1, Input: -1}, Handle: Receiver(c), Verb: q.verb}
	return r.built(s, q)
}

func (r *Reader) squirrelQuery(c *ssa.CallCommon) *query {
	obj := ir.Object(c)
	if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != squirrelPath {
		return nil
	}
	verb, ok := squirrelVerbs[receiverName(obj.Type().(*types.Signature))]
	if !ok {
		return nil
	}
	q := &query{verb: verb}
	r.chain(q, Receiver(c), squirrelPath, r.squirrelStep)
	return q
}

// BuiltText returns the text that a builder's ToSql gives, with a hole where a
// condition is not known.
func (r *Reader) BuiltText(c *ssa.Call) (string, bool) {
	obj := ir.Object(&c.Call)
	if obj == nil || obj.Name() != "ToSql" && obj.Name() != "MustSql" {
		return "", false
	}
	q := r.squirrelQuery(&c.Call)
	if q == nil {
		return "", false
	}
	if q.unclear {
		return q.text() + " " + sqlstmt.Hole, true
	}
	return q.text(), true
}

func (r *Reader) squirrelStep(q *query, name string, c *ssa.CallCommon) {
	switch name {
	case "Update", "Delete", "Insert", "From", "Table", "Into":
		if a := Arg(c, 0); a != nil && isString(a.Type()) {
			if t := r.Text.Texts(a); len(t) == 1 {
				q.table = ident(strings.Fields(t[0] + " x")[0])
			}
		}
	case "Set":
		for _, col := range r.Text.Texts(Arg(c, 0)) {
			q.set = append(q.set, ident(col))
		}
	case "SetMap":
		q.set = append(q.set, r.columnsOf(Arg(c, 0))...)
	case "Where":
		r.squirrelPredicate(q, Arg(c, 0))
	case "Suffix", "SuffixExpr", "Prefix", "PrefixExpr", "Options":
		q.unclear = true
	}
}

func (r *Reader) squirrelPredicate(q *query, v ssa.Value) {
	v = plain(v)
	n := ir.NamedOf(v.Type())
	if n == nil || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != squirrelPath {
		r.predicate(q, v)
		return
	}
	op, ok := map[string]string{"Eq": "=", "Lt": "<", "LtOrEq": "<=", "Gt": ">", "GtOrEq": ">="}[n.Obj().Name()]
	cols := r.columnsOf(v)
	if !ok || len(cols) == 0 {
		q.unclear = true
		return
	}
	for _, c := range cols {
		q.where = append(q.where, c+" "+op+" ?")
	}
}

// SelectOf returns the table and the columns of a squirrel SELECT that a row, or
// what is scanned from it, came from.
func (r *Reader) SelectOf(row ssa.Value) (table string, columns []string, ok bool) {
	r.Trace.Walk(row, func(v, out ssa.Value) ([]ssa.Value, bool) {
		c, isCall := v.(*ssa.Call)
		if !isCall || out != nil {
			return nil, out != nil
		}
		obj := ir.Object(&c.Call)
		if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != squirrelPath {
			return nil, false
		}
		switch obj.Name() {
		case "Select", "Columns":
			if list := Arg(&c.Call, 0); list != nil {
				for _, x := range r.Elements(list) {
					for _, t := range r.Text.Texts(x) {
						columns = append(columns, ident(t))
					}
				}
			}
			ok = true
		case "From":
			if t := r.Text.Texts(Arg(&c.Call, 0)); len(t) == 1 && t[0] != "" {
				table = ident(strings.Fields(t[0] + " x")[0])
			}
		}
		if recv := Receiver(&c.Call); recv != nil {
			return []ssa.Value{recv}, true
		}
		return nil, true
	})
	return table, columns, ok
}
