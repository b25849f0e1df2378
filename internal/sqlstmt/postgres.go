package sqlstmt

import (
	"errors"
	"slices"
	"strings"

	"github.com/sqlc-dev/oliphant/ast"
	pgparser "github.com/sqlc-dev/oliphant/parser"
)

// postgres is the PostgreSQL engine: oliphant's tree read into our values.
type postgres struct{}

// pgReader reads one statement of an oliphant tree.
type pgReader struct {
	*reader
	// multi is the row or sub-select of the multi-column assignment being read:
	// oliphant hangs the same node under each of its columns.
	multi     *ast.Node
	multiExpr Expr
}

func (postgres) lexis() lexis { return lexis{postgres: true} }

func (postgres) parse(text string) (tree, *syntaxError) {
	res, err := pgparser.ParseToTree(text)
	if err == nil {
		return pgTree(res.Stmts), nil
	}
	se := &syntaxError{msg: err.Error(), at: -1}
	var pe *pgparser.Error
	if errors.As(err, &pe) && pe.Cursorpos > 0 {
		se.at = byteOffset(text, pe.Cursorpos-1)
	}
	return nil, se
}

func (postgres) reads(text string, _ Style) bool {
	for _, c := range []byte("?:@") { // each at vector speed, unlike ContainsAny
		if strings.IndexByte(text, c) >= 0 {
			return false
		}
	}
	return !strings.Contains(text, "sqlc.")
}

type pgTree []*ast.RawStmt

func (t pgTree) len() int { return len(t) }

func (t pgTree) read(i int, r *reader) {
	p := pgReader{reader: r}
	p.statement(t[i].Stmt)
}

// byteOffset turns a count of characters into one of bytes.
func byteOffset(s string, chars int) int {
	for i := range s {
		if chars == 0 {
			return i
		}
		chars--
	}
	return len(s)
}

// pgOther tells the statements that neither write a table nor change a schema,
// of those no rule below reads.
func pgOther(n *ast.Node) bool {
	switch n.Node.(type) {
	case *ast.Node_VariableShowStmt, *ast.Node_TransactionStmt, *ast.Node_ExecuteStmt, *ast.Node_DeallocateStmt,
		*ast.Node_ListenStmt, *ast.Node_NotifyStmt, *ast.Node_UnlistenStmt, *ast.Node_LockStmt, *ast.Node_VacuumStmt,
		*ast.Node_CheckPointStmt, *ast.Node_DiscardStmt, *ast.Node_LoadStmt, *ast.Node_ClosePortalStmt,
		*ast.Node_FetchStmt, *ast.Node_ConstraintsSetStmt:
		return true
	}
	return false
}

func (r *pgReader) statement(node *ast.Node) {
	s := r.stmt
	switch n := node.GetNode().(type) {
	case *ast.Node_SelectStmt:
		s.Op = Select
		if n.SelectStmt.IntoClause != nil {
			s.Op = DDL
		}
		s.Query = r.query(n.SelectStmt)
	case *ast.Node_InsertStmt, *ast.Node_UpdateStmt, *ast.Node_DeleteStmt, *ast.Node_MergeStmt:
		s.Op = r.dml(node, "")
	case *ast.Node_CopyStmt:
		r.copy(n.CopyStmt)
	case *ast.Node_TruncateStmt:
		s.Op = Truncate
		for _, rel := range n.TruncateStmt.Relations {
			if v := rel.GetRangeVar(); v != nil {
				r.write(Truncate, int(v.Location), func(w *Write) { w.Table, w.Only = r.target(v), !v.Inh })
			}
		}
	case *ast.Node_VariableSetStmt:
		s.Op = Other
		r.set(n.VariableSetStmt)
	case *ast.Node_TransactionStmt:
		s.Op = Other
		r.isolation(n.TransactionStmt.Options)
	case *ast.Node_ExplainStmt:
		s.Op = Other
		for _, o := range n.ExplainStmt.Options {
			if o.GetDefElem().GetDefname() == "analyze" { // it runs the statement
				r.statement(n.ExplainStmt.Query)
			}
		}
	case *ast.Node_DeclareCursorStmt:
		r.statement(n.DeclareCursorStmt.Query)
	case *ast.Node_PrepareStmt:
		s.Op = Other
		s.Unknown = append(s.Unknown, "when and with what the prepared statement runs")
	case *ast.Node_DoStmt:
		s.Op = Other
		s.Unknown = append(s.Unknown, "the body of DO")
	case *ast.Node_CallStmt:
		s.Op = Other
		r.expr(&ast.Node{Node: &ast.Node_FuncCall{FuncCall: n.CallStmt.Funccall}})
	case *ast.Node_CreateStmt:
		s.Op = DDL
		r.created(n.CreateStmt.Relation)
	case *ast.Node_CreateTableAsStmt:
		s.Op = DDL
		if sel := n.CreateTableAsStmt.Query.GetSelectStmt(); sel != nil {
			s.Query = r.query(sel)
		}
		r.created(n.CreateTableAsStmt.Into.GetRel())
	default:
		s.Op = DDL
		if pgOther(node) {
			s.Op = Other
		}
	}
}

// created remembers a temporary table for the rest of the script.
func (r *pgReader) created(v *ast.RangeVar) {
	if v != nil && (v.Relpersistence == "t" || r.isTemp(v.Schemaname, "")) {
		r.makeTemp(v.Relname)
	}
}

func (r *pgReader) set(v *ast.VariableSetStmt) {
	switch v.Kind {
	case ast.VariableSetKind_VAR_RESET, ast.VariableSetKind_VAR_RESET_ALL:
		return
	case ast.VariableSetKind_VAR_SET_MULTI: // SET TRANSACTION, SET SESSION CHARACTERISTICS
		r.isolation(v.Args)
	}
	r.stmt.Set = append(r.stmt.Set, strings.ToLower(v.Name))
	if strings.HasSuffix(strings.ToLower(v.Name), "transaction_isolation") && len(v.Args) == 1 {
		r.stmt.Isolation = strings.ToLower(v.Args[0].GetAConst().GetSval().GetSval())
	}
}

func (r *pgReader) isolation(options []*ast.Node) {
	for _, o := range options {
		d := o.GetDefElem()
		if d.GetDefname() == "transaction_isolation" {
			r.stmt.Isolation = strings.ToLower(d.Arg.GetAConst().GetSval().GetSval())
		}
	}
}

func (r *pgReader) copy(c *ast.CopyStmt) {
	r.stmt.Op = Other
	switch {
	case c.IsFrom && c.Relation != nil:
		r.stmt.Op = Copy
		r.write(Copy, int(c.Relation.Location), func(w *Write) {
			w.Table = r.target(c.Relation)
			for _, a := range c.Attlist {
				w.Columns = append(w.Columns, a.GetString_().GetSval())
			}
			w.Where = r.conds(nil, c.WhereClause)
		})
	case c.Query != nil:
		r.statement(c.Query)
	}
}

// target is the table a statement writes: never a CTE, even of the same name.
func (r *pgReader) target(v *ast.RangeVar) Table {
	t := r.table(v.Schemaname, v.Relname)
	t.Alias = v.Alias.GetAliasname()
	return t
}

// dml reads a statement that writes; cte is the name of the CTE it is, if any.
func (r *pgReader) dml(n *ast.Node, cte string) (op Op) {
	scope := len(r.ctes)
	switch n := n.GetNode().(type) {
	case *ast.Node_InsertStmt:
		op = Insert
		r.with(n.InsertStmt.WithClause)
		r.write(op, int(n.InsertStmt.Relation.GetLocation()), func(w *Write) { r.insert(w.of(cte), n.InsertStmt) })
	case *ast.Node_UpdateStmt:
		op = Update
		r.with(n.UpdateStmt.WithClause)
		r.write(op, int(n.UpdateStmt.Relation.GetLocation()), func(w *Write) { r.update(w.of(cte), n.UpdateStmt) })
	case *ast.Node_DeleteStmt:
		op = Delete
		r.with(n.DeleteStmt.WithClause)
		r.write(op, int(n.DeleteStmt.Relation.GetLocation()), func(w *Write) { r.delete(w.of(cte), n.DeleteStmt) })
	case *ast.Node_MergeStmt:
		op = Merge
		r.with(n.MergeStmt.WithClause)
		r.write(op, int(n.MergeStmt.Relation.GetLocation()), func(w *Write) { r.merge(w.of(cte), n.MergeStmt) })
	}
	r.ctes = r.ctes[:scope]
	return op
}

// of notes the name of the CTE that w is, if it is one.
func (w *Write) of(cte string) *Write {
	w.Name, w.InCTE = cte, cte != ""
	return w
}

func (r *pgReader) insert(w *Write, s *ast.InsertStmt) {
	w.Table = r.target(s.Relation)
	w.Columns = slices.Grow(w.Columns, len(s.Cols))
	for _, c := range s.Cols {
		w.Columns = append(w.Columns, c.GetResTarget().GetName())
	}
	switch sel := s.SelectStmt.GetSelectStmt(); {
	case sel == nil: // DEFAULT VALUES
		w.Values = [][]Expr{{}}
	case len(sel.ValuesLists) > 0 && sel.WithClause == nil:
		w.Values = make([][]Expr, len(sel.ValuesLists))
		for i, row := range sel.ValuesLists {
			w.Values[i] = r.exprs(row.GetList().GetItems())
		}
	default:
		w.Source = r.query(sel)
	}
	if c := s.OnConflictClause; c != nil {
		w.Conflict = r.conflict(c)
	}
	w.Returning = r.returning(s.ReturningClause)
}

func (r *pgReader) conflict(c *ast.OnConflictClause) *Conflict {
	out := &Conflict{DoNothing: c.Action == ast.OnConflictAction_ONCONFLICT_NOTHING}
	if in := c.Infer; in != nil {
		for _, e := range in.IndexElems {
			name := e.GetIndexElem().GetName()
			if name == "" {
				r.expr(e.GetIndexElem().GetExpr())
				name = "?"
			}
			out.Target = append(out.Target, name)
		}
		if in.Conname != "" {
			out.Target = append(out.Target, "?")
		}
		r.conds(nil, in.WhereClause)
	}
	out.Set = r.assigns(c.TargetList)
	out.Where = r.conds(nil, c.WhereClause)
	return out
}

func (r *pgReader) update(w *Write, s *ast.UpdateStmt) {
	w.Table = r.target(s.Relation)
	w.Only = !s.Relation.Inh
	w.Set = r.assigns(s.TargetList)
	r.from(s.FromClause, source{&w.From, &w.Derived, &w.Where})
	r.where(w, s.WhereClause)
	w.Returning = r.returning(s.ReturningClause)
}

func (r *pgReader) delete(w *Write, s *ast.DeleteStmt) {
	w.Table = r.target(s.Relation)
	w.Only = !s.Relation.Inh
	r.from(s.UsingClause, source{&w.From, &w.Derived, &w.Where})
	r.where(w, s.WhereClause)
	w.Returning = r.returning(s.ReturningClause)
}

func (r *pgReader) where(w *Write, n *ast.Node) {
	if n.GetCurrentOfExpr() != nil {
		w.CurrentOf = true
		return
	}
	w.Where = r.conds(w.Where, n)
}

func (r *pgReader) merge(w *Write, s *ast.MergeStmt) {
	w.Table = r.target(s.Relation)
	w.Only = !s.Relation.Inh
	r.from([]*ast.Node{s.SourceRelation}, source{&w.From, &w.Derived, &w.Where})
	joined := r.conds(nil, s.JoinCondition)
	var arms [][]Cond
	var passed []Cond // what holds once the DO NOTHING arms before did not apply
	for _, n := range s.MergeWhenClauses {
		arm := n.GetMergeWhenClause()
		cond := r.conds(nil, arm.GetCondition())
		if arm.GetMatchKind() == ast.MergeMatchKind_MERGE_WHEN_NOT_MATCHED_BY_TARGET {
			if arm.CommandType == ast.CmdType_CMD_INSERT {
				for _, c := range arm.TargetList {
					w.Columns = append(w.Columns, c.GetResTarget().GetName())
				}
				w.Values = append(w.Values, r.exprs(arm.Values))
			}
			continue
		}
		if arm.GetMatchKind() == ast.MergeMatchKind_MERGE_WHEN_NOT_MATCHED_BY_SOURCE {
			joined = nil // it changes rows for which the join condition is false
		}
		if arm.GetCommandType() == ast.CmdType_CMD_NOTHING {
			if len(cond) > 0 {
				passed = append(passed, negate(cond)...)
			}
			continue
		}
		w.Matched = true
		w.Set = append(w.Set, r.assigns(arm.GetTargetList())...)
		arms = append(arms, append(cond[:len(cond):len(cond)], passed...))
	}
	w.Where = append(w.Where, joined...)
	w.Where = append(w.Where, anyArm(arms)...)
	w.Returning = r.returning(s.ReturningClause)
}

// anyArm is what at least one arm requires; nothing if one requires nothing.
func anyArm(arms [][]Cond) []Cond {
	for _, a := range arms {
		if len(a) == 0 {
			return nil
		}
	}
	if len(arms) == 0 {
		return nil
	}
	return disj(arms)
}

func (r *pgReader) assigns(list []*ast.Node) []Assign {
	if len(list) == 0 {
		return nil
	}
	out := make([]Assign, 0, len(list))
	for _, n := range list {
		t := n.GetResTarget()
		m := t.GetVal().GetMultiAssignRef()
		if m == nil {
			out = append(out, Assign{Column: t.GetName()})
			r.into(&out[len(out)-1].Value, t.GetVal())
			continue
		}
		if r.multi != m.Source {
			r.multi, r.multiExpr = m.Source, r.expr(m.Source)
		}
		v := r.multiExpr
		if i := int(m.Colno) - 1; isRow(&v) && i < len(v.Args) {
			v = v.Args[i]
		}
		out = append(out, Assign{t.GetName(), v})
	}
	return out
}

func (r *pgReader) returning(c *ast.ReturningClause) []Expr {
	return r.targets(c.GetExprs())
}

func (r *pgReader) targets(list []*ast.Node) []Expr {
	if len(list) == 0 {
		return nil
	}
	out := make([]Expr, len(list))
	for i, n := range list {
		t := n.GetResTarget()
		r.into(&out[i], t.GetVal())
		out[i].Alias = t.GetName()
	}
	return out
}

func (r *pgReader) with(c *ast.WithClause) {
	if c == nil {
		return
	}
	if c.Recursive {
		for _, n := range c.Ctes {
			r.ctes = append(r.ctes, n.GetCommonTableExpr().GetCtename())
		}
	}
	for _, n := range c.Ctes {
		e := n.GetCommonTableExpr()
		if sel := e.GetCtequery().GetSelectStmt(); sel != nil {
			q := r.query(sel)
			q.Name = e.Ctename
			r.stmt.CTEs = append(r.stmt.CTEs, q)
		} else {
			r.dml(e.GetCtequery(), e.GetCtename())
		}
		if !c.Recursive {
			r.ctes = append(r.ctes, e.GetCtename())
		}
	}
}

func (r *pgReader) query(s *ast.SelectStmt) *Query {
	q := &Query{}
	scope := len(r.ctes)
	r.within(&q.Sub, func() {
		r.with(s.WithClause)
		r.body(q, s)
	})
	r.ctes = r.ctes[:scope]
	r.track(q, queryLocation(s))
	return q
}

// queryLocation is the offset of something near the start of s.
func queryLocation(s *ast.SelectStmt) int {
	for s.Larg != nil {
		s = s.Larg
	}
	for _, t := range s.TargetList {
		return int(t.GetResTarget().GetLocation())
	}
	for _, f := range s.FromClause {
		if v := f.GetRangeVar(); v != nil {
			return int(v.Location)
		}
	}
	return -1
}

func (r *pgReader) body(q *Query, s *ast.SelectStmt) {
	switch {
	case s.Larg != nil && s.Rarg != nil:
		r.arms(s)
		q.Output = q.Sub[0].Output
	case len(s.ValuesLists) > 0:
		for i, row := range s.ValuesLists {
			exprs := r.exprs(row.GetList().GetItems())
			if i == 0 {
				q.Output = exprs
			}
		}
	default:
		q.Output = r.targets(s.TargetList)
		r.from(s.FromClause, source{&q.From, &q.Derived, &q.Where})
		q.Where = r.conds(q.Where, s.WhereClause)
	}
	r.created(s.IntoClause.GetRel())
	r.ignore(s.DistinctClause...)
	r.ignore(s.GroupClause...)
	r.ignore(s.HavingClause)
	r.ignore(s.WindowClause...)
	r.ignore(s.SortClause...)
	r.ignore(s.LimitCount, s.LimitOffset)
	for _, n := range s.LockingClause {
		l := n.GetLockingClause()
		q.Lock = max(q.Lock, pgLocks[l.GetStrength()])
		q.SkipLocked = q.SkipLocked || l.GetWaitPolicy() == ast.LockWaitPolicy_LockWaitSkip
		for _, rel := range l.GetLockedRels() {
			q.LockOf = append(q.LockOf, rel.GetRangeVar().GetRelname())
		}
	}
}

var pgLocks = map[ast.LockClauseStrength]Lock{
	ast.LockClauseStrength_LCS_FORKEYSHARE:    ForKeyShare,
	ast.LockClauseStrength_LCS_FORSHARE:       ForShare,
	ast.LockClauseStrength_LCS_FORNOKEYUPDATE: ForNoKeyUpdate,
	ast.LockClauseStrength_LCS_FORUPDATE:      ForUpdate,
}

// arms files the arms of a UNION, those of a chain side by side.
func (r *pgReader) arms(s *ast.SelectStmt) {
	for _, arm := range []*ast.SelectStmt{s.Larg, s.Rarg} {
		plain := arm.WithClause == nil && arm.LimitCount == nil && len(arm.SortClause) == 0 && len(arm.LockingClause) == 0
		if arm.Larg != nil && arm.Rarg != nil && plain {
			r.arms(arm)
			continue
		}
		r.nested(r.query(arm))
	}
}

func (r *pgReader) from(list []*ast.Node, to source) {
	for _, n := range list {
		r.fromItem(n, to)
	}
}

func (r *pgReader) fromItem(n *ast.Node, to source) {
	switch n := n.GetNode().(type) {
	case *ast.Node_RangeVar:
		v := n.RangeVar
		if r.isCTE(v.Schemaname, v.Relname) {
			*to.derived = append(*to.derived, Table{Name: v.Relname, Alias: v.Alias.GetAliasname()})
			return
		}
		*to.tables = append(*to.tables, r.target(v))
	case *ast.Node_RangeSubselect:
		if sel := n.RangeSubselect.Subquery.GetSelectStmt(); sel != nil {
			r.nested(r.query(sel))
		}
		*to.derived = append(*to.derived, Table{Alias: n.RangeSubselect.Alias.GetAliasname()})
	case *ast.Node_RangeFunction:
		t := Table{Alias: n.RangeFunction.Alias.GetAliasname()}
		for _, f := range n.RangeFunction.Functions {
			for _, e := range r.exprs(f.GetList().GetItems()) {
				if t.Name == "" && e.Kind == Func {
					t.Name = e.Name
				}
			}
		}
		*to.derived = append(*to.derived, t)
	case *ast.Node_RangeTableSample:
		r.fromItem(n.RangeTableSample.Relation, to)
		r.ignore(n.RangeTableSample.Args...)
	case *ast.Node_JoinExpr:
		r.join(n.JoinExpr, to)
	case *ast.Node_JsonTable:
		r.visit(n.JsonTable)
		*to.derived = append(*to.derived, Table{Name: "json_table", Alias: n.JsonTable.Alias.GetAliasname()})
	case *ast.Node_RangeTableFunc:
		r.visit(n.RangeTableFunc)
		*to.derived = append(*to.derived, Table{Name: "xmltable", Alias: n.RangeTableFunc.Alias.GetAliasname()})
	}
}

func (r *pgReader) join(j *ast.JoinExpr, to source) {
	optionalLeft := j.Jointype != ast.JoinType_JOIN_INNER && j.Jointype != ast.JoinType_JOIN_LEFT
	optionalRight := j.Jointype != ast.JoinType_JOIN_INNER && j.Jointype != ast.JoinType_JOIN_RIGHT
	left, right, on := to.sides(optionalLeft, optionalRight)
	r.fromItem(j.Larg, left)
	r.fromItem(j.Rarg, right)
	*on = r.conds(*on, j.Quals)
	for _, u := range j.UsingClause {
		name := u.GetString_().GetSval()
		*on = append(*on, Cond{Op: "=", Left: column(rangeName(j.Larg), name), Right: column(rangeName(j.Rarg), name)})
	}
}

// rangeName is the name columns of a FROM item are qualified with, if it is one.
func rangeName(n *ast.Node) string {
	switch n := n.GetNode().(type) {
	case *ast.Node_RangeVar:
		if a := n.RangeVar.Alias.GetAliasname(); a != "" {
			return a
		}
		return n.RangeVar.Relname
	case *ast.Node_RangeSubselect:
		return n.RangeSubselect.Alias.GetAliasname()
	case *ast.Node_RangeFunction:
		return n.RangeFunction.Alias.GetAliasname()
	}
	return ""
}
