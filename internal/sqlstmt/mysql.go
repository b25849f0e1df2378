package sqlstmt

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sqlc-dev/marino/ast"
	mysqlmode "github.com/sqlc-dev/marino/mysql"
	mysqlparser "github.com/sqlc-dev/marino/parser"
)

// mysql is the engine of MySQL and MariaDB: marino's tree read into our values.
type mysql struct {
	maria bool
	ansi  bool // "x" is a name
}

func (m mysql) lexis() lexis { return lexis{mysql: true, maria: m.maria, ansi: m.ansi} }

// reads: its parser knows ? alone. $1 it takes for a column, bun's ?Name for a
// parameter with an alias, and what is in /*! */ or /*T! */ it reads whatever the
// version.
func (m mysql) reads(text string, style Style) bool {
	if strings.IndexByte(text, ':') >= 0 || strings.IndexByte(text, '$') >= 0 || style == Question && namesQuestion(text) {
		return false
	}
	if strings.Contains(text, "sqlc.") || strings.Contains(text, "/*") && (strings.Contains(text, "/*!") || strings.Contains(text, "/*T!")) {
		return false
	}
	return !m.maria || !mayBeMaria(text)
}

// mayBeMaria tells whether text may hold something that MariaDB reads otherwise than
// MySQL.
func mayBeMaria(text string) bool {
	return strings.Contains(text, "/*!") || strings.Contains(text, "/*M!") || hasWord(text, "returning", "value", "lock")
}

// namesQuestion tells whether a name follows a ? at once.
func namesQuestion(text string) bool {
	for i := 0; ; i++ {
		next := strings.IndexByte(text[i:], '?')
		if i += next; next < 0 || i+1 == len(text) {
			return false
		}
		if isWordByte(text[i+1]) {
			return true
		}
	}
}

// hasWord tells whether one of the words is in text, in any case.
func hasWord(text string, words ...string) bool {
	for start := 0; start < len(text); {
		end := start
		for end < len(text) && isWordByte(text[end]) {
			end++
		}
		for _, w := range words {
			if end-start == len(w) && strings.EqualFold(text[start:end], w) {
				return true
			}
		}
		start = end + 1
	}
	return false
}

// mysqlParsers are used again: a parser is costly to make and keeps state.
var mysqlParsers = sync.Pool{New: func() any { return mysqlparser.New() }}

func (m mysql) parse(text string) (tree, *syntaxError) {
	var mode mysqlmode.SQLMode
	if m.ansi {
		mode = mysqlmode.ModeANSIQuotes
	}
	p := mysqlParsers.Get().(*mysqlparser.Parser)
	p.SetSQLMode(mode)
	stmts, _, err := p.ParseSQL(text)
	mysqlParsers.Put(p)
	if err != nil {
		return nil, mysqlError(text, err)
	}
	t := &mysqlTree{text: text, engine: m, stmts: stmts}
	if m.maria && strings.Contains(text, returningMark) {
		t.fold()
	}
	return t, nil
}

// MySQLError makes an error of MySQL's parser short.
func MySQLError(text string, err error) error { return errors.New(mysqlError(text, err).msg) }

// mysqlError makes an error of the parser short. It says where by quoting the
// rest of the text: line 1 column 6 near "FROB 1" , or its beginning and length.
func mysqlError(text string, err error) *syntaxError {
	msg := err.Error()
	_, rest, ok := strings.Cut(msg, ` near "`)
	if !ok {
		return &syntaxError{msg, -1}
	}
	left := len(strings.TrimSuffix(rest, `" `))
	if _, total, ok := strings.Cut(rest, `(total length `); ok {
		left, _ = strconv.Atoi(strings.TrimSuffix(total, ")"))
	}
	at := len(text) - left
	if at < 0 || !strings.HasPrefix(text[at:], rest[:min(left, 1)]) {
		return &syntaxError{"syntax error", -1}
	}
	rest = strings.ReplaceAll(text[at:], returningAs, "RETURNING")
	near := strings.Join(strings.Fields(strings.ToValidUTF8(rest[:min(40, len(rest))], "")), " ")
	if near == "" {
		return &syntaxError{"syntax error at the end", at}
	}
	return &syntaxError{fmt.Sprintf("syntax error near \"%s\"", near), at}
}

// mysqlTree is what was parsed.
type mysqlTree struct {
	text     string
	engine   mysql
	stmts    []ast.StmtNode
	returned map[int]*ast.SelectStmt // the RETURNING of statements
	marks    []int                   // where the parameters are, once asked for
}

func (t *mysqlTree) len() int { return len(t.stmts) }

func (t *mysqlTree) read(i int, r *reader) {
	m := mysqlReader{reader: r, tree: t}
	m.statement(t.stmts[i])
	if sel := t.returned[i]; sel != nil {
		m.returning(t.stmts[i], sel)
	}
}

// fold files each RETURNING, which was parsed as a SELECT, with the statement
// before it.
func (t *mysqlTree) fold() {
	t.returned = map[int]*ast.SelectStmt{}
	kept := t.stmts[:0]
	for _, s := range t.stmts {
		if sel := wasReturning(s); sel != nil && len(kept) > 0 {
			t.returned[len(kept)-1] = sel
			continue
		}
		kept = append(kept, s)
	}
	t.stmts = kept
}

// wasReturning is s if it was a RETURNING.
func wasReturning(s ast.StmtNode) *ast.SelectStmt {
	sel, ok := s.(*ast.SelectStmt)
	if !ok || sel.Fields == nil || len(sel.Fields.Fields) < 2 {
		return nil
	}
	if v, ok := sel.Fields.Fields[0].Expr.(*ast.ValueExprBase); ok && v.Kind() == ast.KindString && v.GetString() == returningMark {
		return sel
	}
	return nil
}

// markers is the offsets of the parameters, which a text that was not rewritten
// does not come with.
func (t *mysqlTree) markers() []int {
	if t.marks == nil {
		t.marks = markers(t.text, t.engine.lexis())
	}
	return t.marks
}

// markers is the offsets of the parameters in a text that has no others than ?.
func markers(text string, l lexis) []int {
	out := make([]int, 0, strings.Count(text, "?"))
	for i := range len(text) {
		switch c := text[i]; {
		case c == '?':
			out = append(out, i)
		case mayHide[c] && (c != '-' && c != '/' || startsComment(text[i:])):
			return scannedMarkers(text, l)
		}
	}
	return out
}

// mayHide are the characters that begin something in which ? is no parameter.
var mayHide = [256]bool{'\'': true, '"': true, '`': true, '#': true, '-': true, '/': true}

func scannedMarkers(text string, l lexis) []int {
	var out []int
	for _, t := range scan(text, l, Native).toks {
		if t.kind == tParam {
			out = append(out, int(t.start))
		}
	}
	return out
}

// mysqlReader reads one statement of a marino tree.
type mysqlReader struct {
	*reader
	tree     *mysqlTree
	proposed proposed
}

// proposed is the alias of the row that an INSERT proposes, and of its columns.
type proposed struct {
	row     string
	columns map[string]string
}

func (r *mysqlReader) statement(node ast.StmtNode) {
	out := r.stmt
	switch s := node.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		out.Op = Select
		out.Query = r.query(node)
	case *ast.InsertStmt:
		out.Op = Insert
		r.insert(s)
	case *ast.UpdateStmt:
		out.Op = Update
		r.update(s)
	case *ast.DeleteStmt:
		out.Op = Delete
		r.delete(s)
	case *ast.LoadDataStmt:
		r.load(s.Table, s.ColumnsAndUserVars, s.ColumnAssignments, s.OnDuplicate)
	case *ast.LoadXMLStmt:
		r.load(s.Table, s.ColumnsAndUserVars, s.ColumnAssignments, s.OnDuplicate)
	case *ast.TruncateTableStmt:
		out.Op = Truncate
		r.write(Truncate, s.Table.OriginTextPosition(), func(w *Write) { w.Table = r.named(s.Table) })
	case *ast.CreateTableStmt:
		out.Op = DDL
		if s.Select != nil {
			out.Query = r.query(s.Select)
		}
		if s.TemporaryKeyword != ast.TemporaryNone {
			r.makeTemp(s.Table.Name.O)
		}
	case *ast.NonTransactionalDMLStmt, *ast.ImportIntoStmt, *ast.TraceStmt:
		r.misfit = "a statement only TiDB has"
	case *ast.LockTablesStmt, *ast.UnlockTablesStmt, *ast.OptimizeTableStmt, *ast.RepairTableStmt:
		out.Op = Other
	case ast.DDLNode, *ast.ProcedureInfo, *ast.DropProcedureStmt:
		out.Op = DDL
	default:
		out.Op = Other
		r.other(node)
	}
}

// other reads statements that write no table themselves.
func (r *mysqlReader) other(node ast.StmtNode) {
	switch s := node.(type) {
	case *ast.SetStmt:
		for _, v := range s.Variables {
			r.assignVariable(v)
		}
	case *ast.ExplainStmt:
		if s.Analyze && s.Stmt != nil { // it runs the statement
			r.statement(s.Stmt)
		}
	case *ast.PrepareStmt:
		r.stmt.Unknown = append(r.stmt.Unknown, "when and with what the prepared statement runs")
	case *ast.CallStmt:
		r.expr(s.Procedure)
	case *ast.DoStmt:
		r.exprs(s.Exprs)
	}
}

// isolationNames are the variables that hold the isolation level, the last one
// of the next transaction only.
var isolationNames = []string{"transaction_isolation", "tx_isolation", "tx_isolation_one_shot"}

// settingNames are those of what the parser gives a name of its own.
var settingNames = map[string]string{ast.SetNames: "names", ast.SetCharset: "character set"}

func (r *mysqlReader) assignVariable(v *ast.VariableAssignment) {
	name, ok := settingNames[v.Name]
	if !ok {
		name = strings.ToLower(v.Name)
	}
	if !ok && !v.IsSystem {
		name = "@" + name
	}
	r.stmt.Set = append(r.stmt.Set, name)
	e := r.expr(v.Value)
	if !v.IsGlobal && slices.Contains(isolationNames, name) {
		r.stmt.Isolation = strings.ToLower(strings.ReplaceAll(e.Text, "-", " "))
	}
}

// named is a table as a statement names it.
func (r *mysqlReader) named(t *ast.TableName) Table {
	if t.Name.O == "" { // the parser takes ``, no server does
		r.misfit = "a table without a name"
	}
	return r.table(t.Schema.O, t.Name.O)
}

// sole is the table a FROM clause consists of, nil if it holds more than one.
func sole(refs *ast.TableRefsClause) *ast.TableSource {
	if refs == nil || refs.TableRefs == nil || refs.TableRefs.Right != nil {
		return nil
	}
	src, ok := refs.TableRefs.Left.(*ast.TableSource)
	if !ok {
		return nil
	}
	if _, ok := src.Source.(*ast.TableName); !ok {
		return nil
	}
	return src
}

func (r *mysqlReader) insert(s *ast.InsertStmt) {
	target := sole(s.Table).Source.(*ast.TableName)
	r.write(Insert, target.OriginTextPosition(), func(w *Write) {
		w.Table = r.named(target)
		w.Replace, w.Ignore = s.IsReplace, s.IgnoreErr
		if len(s.Columns) > 0 {
			w.Columns = make([]string, len(s.Columns))
			for i, c := range s.Columns {
				w.Columns[i] = c.Name.O
			}
		}
		w.Values = r.rows(s)
		if w.Values == nil {
			w.Source = r.query(s.Select)
		}
		if len(s.OnDuplicate) > 0 {
			r.propose(s)
			w.Conflict = &Conflict{Set: r.assigns(s.OnDuplicate)}
			r.proposed = proposed{}
		}
	})
}

// rows is the values of an INSERT, nil if it has a query.
func (r *mysqlReader) rows(s *ast.InsertStmt) [][]Expr {
	if s.Select == nil {
		out := make([][]Expr, len(s.Lists))
		for i, row := range s.Lists {
			if out[i] = r.exprs(row); out[i] == nil {
				out[i] = []Expr{}
			}
		}
		return out
	}
	sel, ok := s.Select.(*ast.SelectStmt)
	if !ok || sel.Kind != ast.SelectStmtKindValues || sel.With != nil {
		return nil
	}
	out := make([][]Expr, len(sel.Lists))
	for i, row := range sel.Lists {
		out[i] = r.exprs(row.Values)
	}
	return out
}

// propose remembers what the row an INSERT proposes and its columns are called.
func (r *mysqlReader) propose(s *ast.InsertStmt) {
	if s.RowAlias == nil {
		return
	}
	r.proposed.row = s.RowAlias.O
	for i, alias := range s.ColumnAliases {
		if r.proposed.columns == nil {
			r.proposed.columns = map[string]string{}
		}
		name := Hole // which column it is, only the table knows
		if i < len(s.Columns) {
			name = s.Columns[i].Name.O
		}
		r.proposed.columns[alias.L] = name
	}
}

func (r *mysqlReader) assigns(list []*ast.Assignment) []Assign {
	if len(list) == 0 {
		return nil
	}
	out := make([]Assign, len(list))
	for i, a := range list {
		out[i].Column = a.Column.Name.O
		r.into(&out[i].Value, a.Expr)
	}
	return out
}

func (r *mysqlReader) load(t *ast.TableName, columns []*ast.ColumnNameOrUserVar, set []*ast.Assignment, on ast.OnDuplicateKeyHandlingType) {
	r.stmt.Op = Copy
	r.write(Copy, t.OriginTextPosition(), func(w *Write) {
		w.Table = r.named(t)
		w.Replace = on == ast.OnDuplicateKeyHandlingReplace
		w.Ignore = on == ast.OnDuplicateKeyHandlingIgnore
		for _, c := range columns {
			if c.ColumnName != nil {
				w.Columns = append(w.Columns, c.ColumnName.Name.O)
			}
		}
		w.Set = r.assigns(set)
	})
}

func (r *mysqlReader) update(s *ast.UpdateStmt) {
	r.with(s.With)
	r.write(Update, 0, func(w *Write) {
		w.Ignore = s.IgnoreErr
		r.refs(w, s.TableRefs)
		w.Set = r.assigns(s.List)
		w.Where = r.conds(w.Where, s.Where)
		r.order(s.Order, s.Limit)
	})
	if sole(s.TableRefs) == nil {
		r.spreadUpdate(s.List)
	}
}

func (r *mysqlReader) delete(s *ast.DeleteStmt) {
	r.with(s.With)
	r.write(Delete, 0, func(w *Write) {
		w.Ignore = s.IgnoreErr
		r.refs(w, s.TableRefs)
		w.Where = r.conds(w.Where, s.Where)
		r.order(s.Order, s.Limit)
	})
	if s.IsMultiTable {
		r.spreadDelete(s.Tables.Tables)
	}
}

// refs reads the tables of an UPDATE or DELETE: the one that is written, or those
// that are joined.
func (r *mysqlReader) refs(w *Write, refs *ast.TableRefsClause) {
	src := sole(refs)
	if src == nil {
		r.from(refs, source{&w.From, &w.Derived, &w.Where})
		return
	}
	w.Table = r.named(src.Source.(*ast.TableName))
	w.Table.Alias = src.AsName.O
}

// soleOwner tells whether all columns are of one table, and which.
func soleOwner(owners []int) (int, bool) {
	for _, o := range owners {
		if o < 0 || o != owners[0] {
			return 0, false
		}
	}
	return owners[0], true
}

// taken removes the last write, of a join, from the statement: it becomes one
// for each table that is written.
func (r *mysqlReader) taken() Write {
	last := len(r.stmt.Writes) - 1
	w := r.stmt.Writes[last]
	if w.Table != (Table{}) { // written under its own name: DELETE t FROM t
		w.From = append(w.From, w.Table)
	}
	r.stmt.Writes[last] = Write{}
	r.stmt.Writes = r.stmt.Writes[:last]
	if r.holes {
		r.writes = r.writes[:last]
	}
	return w
}

// spread adds the write w of the table t of its join; t is -1 if it is not known
// which.
func (r *mysqlReader) spread(w Write, t int) {
	joined := w.From
	w.Table, w.From = Table{Name: Hole, Dynamic: true}, nil
	for i, other := range joined {
		if i == t {
			w.Table = other
			continue
		}
		w.From = append(w.From, other)
	}
	r.write(w.Op, 0, func(to *Write) { *to = w })
}

// spreadUpdate makes of the update of a join one for each table whose columns it
// sets. A column without its table's name may be of any, so what else a table is
// set to is open.
func (r *mysqlReader) spreadUpdate(list []*ast.Assignment) {
	last := &r.stmt.Writes[len(r.stmt.Writes)-1]
	owners := make([]int, len(list))
	for i, a := range list {
		owners[i] = owner(last.From, a.Column.Schema.O, a.Column.Table.O)
	}
	if t, ok := soleOwner(owners); ok {
		last.Table = last.From[t]
		last.From = slices.Delete(last.From, t, t+1)
		return
	}
	joined := r.taken()
	for t := -1; t < len(joined.From); t++ {
		if !slices.Contains(owners, t) {
			continue
		}
		w := joined
		w.Set = nil
		for i, a := range joined.Set {
			switch owners[i] {
			case t:
				w.Set = append(w.Set, a)
			case -1:
				w.Set = append(w.Set, Assign{Hole, a.Value})
			}
		}
		r.spread(w, t)
	}
	if slices.Contains(owners, -1) {
		r.stmt.Unknown = append(r.stmt.Unknown, "which table a column in SET is of")
	}
}

// spreadDelete makes of the delete from a join one for each table it names.
func (r *mysqlReader) spreadDelete(targets []*ast.TableName) {
	joined := r.taken()
	for _, n := range targets {
		t := owner(joined.From, n.Schema.O, n.Name.O)
		if t < 0 && !strings.Contains(n.Name.O, Hole) {
			r.misfit = "DELETE names a table that it does not join"
			return
		}
		r.spread(joined, t)
	}
}

// owner is the index of the table a column or a target belongs to, given the name
// it is qualified with; -1 if that is not known.
func owner(from []Table, schema, name string) int {
	if name == "" && len(from) == 1 {
		return 0
	}
	return slices.IndexFunc(from, func(t Table) bool {
		if t.Alias != "" {
			return strings.EqualFold(t.Alias, name)
		}
		return strings.EqualFold(t.Name, name) && (schema == "" || t.Schema == "" || strings.EqualFold(t.Schema, schema))
	})
}

// returning reads the RETURNING of a statement.
func (r *mysqlReader) returning(of ast.StmtNode, s *ast.SelectStmt) {
	if !onlyList(s) || !returns(of) || len(r.stmt.Writes) == 0 {
		r.misfit = "a RETURNING that no server takes"
		return
	}
	w := &r.stmt.Writes[len(r.stmt.Writes)-1]
	r.within(&w.Sub, func() { w.Returning = r.outputs(s.Fields.Fields[1:]) })
}

// returns tells whether a statement can have a RETURNING.
func returns(s ast.StmtNode) bool {
	switch s := s.(type) {
	case *ast.InsertStmt:
		return true
	case *ast.UpdateStmt:
		return sole(s.TableRefs) != nil
	case *ast.DeleteStmt:
		return !s.IsMultiTable
	}
	return false
}

// onlyList tells whether a SELECT is no more than its list.
func onlyList(s *ast.SelectStmt) bool {
	return s.From == nil && s.Where == nil && s.GroupBy == nil && s.Having == nil && s.OrderBy == nil &&
		s.Limit == nil && s.LockInfo == nil && s.SelectIntoOpt == nil
}

func (r *mysqlReader) with(w *ast.WithClause) {
	if w == nil {
		return
	}
	if w.IsRecursive {
		for _, c := range w.CTEs {
			r.ctes = append(r.ctes, r.cteName(c.Name.O))
		}
	}
	for _, c := range w.CTEs {
		q := r.query(c.Query.Query)
		q.Name = c.Name.O
		r.stmt.CTEs = append(r.stmt.CTEs, q)
		if !w.IsRecursive {
			r.ctes = append(r.ctes, r.cteName(c.Name.O))
		}
	}
}

// cteName is what tells CTEs apart. Their names have no case in MariaDB.
func (r *mysqlReader) cteName(name string) string {
	if r.tree.engine.maria {
		return strings.ToLower(name)
	}
	return name
}

// query reads a SELECT, or one in brackets with a tail of its own.
func (r *mysqlReader) query(n ast.Node) *Query {
	q := &Query{}
	scope := len(r.ctes)
	r.within(&q.Sub, func() { r.body(q, n) })
	r.ctes = r.ctes[:scope]
	if r.holes {
		r.track(q, queryOffset(n))
	}
	return q
}

func (r *mysqlReader) body(q *Query, n ast.Node) {
	switch s := n.(type) {
	case *ast.SelectStmt:
		r.with(s.With)
		r.sel(q, s)
	case *ast.SetOprStmt:
		r.with(s.With)
		r.union(q, s.SelectList.Selects)
		r.order(s.OrderBy, s.Limit)
	case *ast.SetOprSelectList:
		r.with(s.With)
		r.union(q, s.Selects)
		r.order(s.OrderBy, s.Limit)
	}
}

// union reads the arms of a UNION; one arm alone is the query.
func (r *mysqlReader) union(q *Query, arms []ast.Node) {
	if len(arms) == 1 {
		r.body(q, arms[0])
		return
	}
	r.arms(arms)
	if len(q.Sub) > 0 {
		q.Output = q.Sub[0].Output
	}
}

// arms files the arms of a UNION, those of a chain side by side.
func (r *mysqlReader) arms(list []ast.Node) {
	for _, n := range list {
		if l, ok := n.(*ast.SetOprSelectList); ok && l.With == nil && l.OrderBy == nil && l.Limit == nil {
			r.arms(l.Selects)
			continue
		}
		r.nested(r.query(n))
	}
}

// queryOffset is the offset of something near the start of a query.
func queryOffset(n ast.Node) int {
	switch s := n.(type) {
	case *ast.SetOprStmt:
		return queryOffset(s.SelectList)
	case *ast.SetOprSelectList:
		if len(s.Selects) > 0 {
			return queryOffset(s.Selects[0])
		}
	case *ast.SelectStmt:
		switch {
		case s.Kind == ast.SelectStmtKindValues && len(s.Lists) > 0 && len(s.Lists[0].Values) > 0:
			return s.Lists[0].Values[0].OriginTextPosition()
		case s.Kind == ast.SelectStmtKindSelect && len(s.Fields.Fields) > 0:
			return s.Fields.Fields[0].Offset
		}
	}
	return -1
}

func (r *mysqlReader) sel(q *Query, s *ast.SelectStmt) {
	if s.Kind == ast.SelectStmtKindValues {
		for i, row := range s.Lists {
			exprs := r.exprs(row.Values)
			if i == 0 {
				q.Output = exprs
			}
		}
	} else {
		q.Output = r.outputs(s.Fields.Fields)
	}
	r.from(s.From, source{&q.From, &q.Derived, &q.Where})
	q.Where = r.conds(q.Where, s.Where)
	if s.GroupBy != nil {
		r.by(s.GroupBy.Items)
	}
	if s.Having != nil {
		r.conds(nil, s.Having.Expr)
	}
	for i := range s.WindowSpecs {
		r.window(&s.WindowSpecs[i])
	}
	r.order(s.OrderBy, s.Limit)
	if s.LockInfo == nil {
		return
	}
	r.lock(q, s.LockInfo)
	for _, l := range s.MoreLockInfos {
		r.lock(q, l)
	}
}

var mysqlLocks = map[ast.SelectLockType]Lock{
	ast.SelectLockForShare: ForShare, ast.SelectLockForShareNoWait: ForShare, ast.SelectLockForShareSkipLocked: ForShare,
	ast.SelectLockForUpdate: ForUpdate, ast.SelectLockForUpdateNoWait: ForUpdate,
	ast.SelectLockForUpdateWaitN: ForUpdate, ast.SelectLockForUpdateSkipLocked: ForUpdate,
}

func (r *mysqlReader) lock(q *Query, l *ast.SelectLockInfo) {
	q.Lock = max(q.Lock, mysqlLocks[l.LockType])
	q.SkipLocked = q.SkipLocked || l.LockType == ast.SelectLockForShareSkipLocked || l.LockType == ast.SelectLockForUpdateSkipLocked
	for _, t := range l.Tables {
		q.LockOf = append(q.LockOf, t.Name.O)
	}
}

func (r *mysqlReader) outputs(list []*ast.SelectField) []Expr {
	if len(list) == 0 {
		return nil
	}
	out := make([]Expr, len(list))
	for i, f := range list {
		if f.WildCard != nil {
			out[i].Kind, out[i].Table = Star, f.WildCard.Table.O
			continue
		}
		r.into(&out[i], f.Expr)
		out[i].Alias = f.AsName.O
	}
	return out
}

func (r *mysqlReader) by(items []*ast.ByItem) {
	for _, i := range items {
		r.expr(i.Expr)
	}
}

func (r *mysqlReader) order(o *ast.OrderByClause, l *ast.Limit) {
	if o != nil {
		r.by(o.Items)
	}
	if l != nil {
		r.expr(l.Count)
		r.expr(l.Offset)
	}
}

func (r *mysqlReader) window(w *ast.WindowSpec) {
	if w.PartitionBy != nil {
		r.by(w.PartitionBy.Items)
	}
	r.order(w.OrderBy, nil)
}

func (r *mysqlReader) from(refs *ast.TableRefsClause, to source) {
	if refs != nil && refs.TableRefs != nil {
		r.join(refs.TableRefs, to)
	}
}

func (r *mysqlReader) join(j *ast.Join, to source) {
	if j.Right == nil {
		r.fromItem(j.Left, to)
		return
	}
	left, right, on := to.sides(j.Tp == ast.RightJoin, j.Tp == ast.LeftJoin)
	r.fromItem(j.Left, left)
	r.fromItem(j.Right, right)
	if j.On != nil {
		*on = r.conds(*on, j.On.Expr)
	}
	for _, u := range j.Using {
		*on = append(*on, Cond{Op: "=", Left: column(sourceName(j.Left), u.Name.O), Right: column(sourceName(j.Right), u.Name.O)})
	}
}

func (r *mysqlReader) fromItem(n ast.ResultSetNode, to source) {
	switch n := n.(type) {
	case *ast.Join:
		r.join(n, to)
	case *ast.TableSource:
		r.source(n, to)
	}
}

func (r *mysqlReader) source(s *ast.TableSource, to source) {
	alias := s.AsName.O
	switch n := s.Source.(type) {
	case *ast.TableName:
		if r.isCTE(n.Schema.O, r.cteName(n.Name.O)) {
			*to.derived = append(*to.derived, Table{Name: n.Name.O, Alias: alias})
			return
		}
		t := r.named(n)
		t.Alias = alias
		*to.tables = append(*to.tables, t)
	case *ast.JSONTableExpr:
		r.expr(n.Doc)
		r.expr(n.Path)
		*to.derived = append(*to.derived, Table{Name: "json_table", Alias: alias})
	case *ast.SelectStmt, *ast.SetOprStmt:
		r.nested(r.query(n))
		*to.derived = append(*to.derived, Table{Alias: alias})
	default:
		r.fromItem(s.Source, to)
	}
}

// sourceName is the name columns of a FROM item are qualified with, if it is one.
func sourceName(n ast.ResultSetNode) string {
	s, ok := n.(*ast.TableSource)
	if !ok {
		return ""
	}
	if t, ok := s.Source.(*ast.TableName); ok && s.AsName.O == "" {
		return t.Name.O
	}
	return s.AsName.O
}
