package sqlstmt

import (
	"errors"
	"strings"

	"github.com/sqlc-dev/meyer/ast"
	sqliteparser "github.com/sqlc-dev/meyer/parser"
)

// sqlite is the SQLite engine: meyer's tree read into our values.
type sqlite struct{}

func (sqlite) lexis() lexis { return lexis{sqlite: true} }

// reads: SQLite has every style of placeholder itself.
func (sqlite) reads(text string, _ Style) bool { return !strings.Contains(text, "sqlc.") }

func (sqlite) parse(text string) (tree, *syntaxError) {
	stmts, err := sqliteparser.Options{UpdateDeleteLimit: true}.ParseString(text)
	if err == nil {
		return sqliteTree(stmts), nil
	}
	se := &syntaxError{msg: err.Error(), at: -1}
	var pe *sqliteparser.Error
	if errors.As(err, &pe) {
		se.msg, se.at = pe.Message, pe.Offset
	}
	return nil, se
}

type sqliteTree []ast.Stmt

func (t sqliteTree) len() int { return len(t) }

func (t sqliteTree) read(i int, r *reader) {
	s := sqliteReader{r}
	s.statement(t[i])
}

// sqliteReader reads one statement of a meyer tree.
type sqliteReader struct{ *reader }

func (r sqliteReader) statement(s ast.Stmt) {
	out := r.stmt
	switch s := s.(type) {
	case *ast.SelectStmt:
		out.Op = Select
		out.Query = r.query(s)
	case *ast.InsertStmt:
		out.Op = Insert
		r.with(s.With)
		r.insert(s)
	case *ast.UpdateStmt:
		out.Op = Update
		r.with(s.With)
		r.update(s)
	case *ast.DeleteStmt:
		out.Op = Delete
		r.with(s.With)
		r.delete(s)
	case *ast.CreateTableStmt:
		out.Op = DDL
		if s.Select != nil {
			out.Query = r.query(s.Select)
		}
		if s.Temp || r.isTemp(ident(s.Name.Schema), "") {
			r.makeTemp(ident(s.Name.Name))
		}
	case *ast.PragmaStmt:
		out.Op = Other
		if s.HasValue {
			out.Set = append(out.Set, strings.ToLower(ident(s.Name.Name)))
		}
	case *ast.BeginStmt, *ast.CommitStmt, *ast.RollbackStmt, *ast.SavepointStmt, *ast.ReleaseStmt, *ast.AttachStmt,
		*ast.DetachStmt, *ast.VacuumStmt, *ast.AnalyzeStmt, *ast.ReindexStmt, *ast.ExplainStmt:
		out.Op = Other
	default:
		out.Op = DDL
	}
}

// ident is a name without its quotes, "" of none.
func ident(i *ast.Ident) string {
	if i == nil {
		return ""
	}
	return i.Name
}

func (r sqliteReader) target(n *ast.QualifiedName, alias *ast.Ident) Table {
	t := r.table(ident(n.Schema), ident(n.Name))
	t.Alias = ident(alias)
	return t
}

func (r sqliteReader) insert(s *ast.InsertStmt) {
	r.write(Insert, s.Table.Start, func(w *Write) {
		w.Table = r.target(s.Table, s.Alias)
		w.Replace = s.Replace || s.OrConflict == ast.ConflictReplace
		w.Ignore = s.OrConflict == ast.ConflictIgnore
		if len(s.Columns) > 0 {
			w.Columns = make([]string, len(s.Columns))
			for i, c := range s.Columns {
				w.Columns[i] = c.Name
			}
		}
		if rows := valuesOf(s.Select); rows != nil {
			w.Values = make([][]Expr, len(rows))
			for i, row := range rows {
				w.Values[i] = r.exprs(row)
			}
		} else if s.Select != nil {
			w.Source = r.query(s.Select)
		} else {
			w.Values = [][]Expr{{}} // DEFAULT VALUES
		}
		w.Conflict = r.conflicts(s.Upserts)
		w.Returning = r.outputs(s.Returning)
	})
}

// valuesOf is the rows of a SELECT that is nothing but VALUES.
func valuesOf(s *ast.SelectStmt) [][]ast.Expr {
	if s == nil || s.With != nil || len(s.Cores) != 1 {
		return nil
	}
	if v, ok := s.Cores[0].(*ast.ValuesClause); ok {
		return v.Rows
	}
	return nil
}

// conflicts chains ON CONFLICT clauses, the least guarded first.
func (r sqliteReader) conflicts(list []*ast.Upsert) *Conflict {
	var first *Conflict
	end := &first
	for _, u := range list {
		c := &Conflict{DoNothing: u.DoNothing, Set: r.assigns(u.Set)}
		for _, t := range u.Target {
			name := "?"
			if e := r.expr(t.Expr); e.Kind == Column {
				name = e.Name
			}
			c.Target = append(c.Target, name)
		}
		r.conds(nil, u.TargetWhere)
		c.Where = r.conds(nil, u.Where)
		if first != nil && guards(first) > guards(c) {
			c.Next, first = first, c
			continue
		}
		*end = c
		end = &c.Next
	}
	return first
}

// guards orders the clauses of an upsert: an update without a condition, one
// with, none.
func guards(c *Conflict) int {
	switch {
	case c.DoNothing:
		return 2
	case len(c.Where) > 0:
		return 1
	}
	return 0
}

func (r sqliteReader) update(s *ast.UpdateStmt) {
	r.write(Update, s.Table.Start, func(w *Write) {
		w.Table = r.target(s.Table, s.Alias)
		w.Replace = s.OrConflict == ast.ConflictReplace
		w.Ignore = s.OrConflict == ast.ConflictIgnore
		w.Set = r.assigns(s.Set)
		r.from(s.From, source{&w.From, &w.Derived, &w.Where})
		w.Where = r.conds(w.Where, s.Where)
		w.Returning = r.outputs(s.Returning)
		r.order(s.OrderBy, s.Limit)
	})
}

func (r sqliteReader) delete(s *ast.DeleteStmt) {
	r.write(Delete, s.Table.Start, func(w *Write) {
		w.Table = r.target(s.Table, s.Alias)
		w.Where = r.conds(nil, s.Where)
		w.Returning = r.outputs(s.Returning)
		r.order(s.OrderBy, s.Limit)
	})
}

func (r sqliteReader) assigns(list []*ast.SetPair) []Assign {
	if len(list) == 0 {
		return nil
	}
	out := make([]Assign, 0, len(list))
	for _, p := range list {
		if len(p.Columns) == 1 && !p.Paren {
			out = append(out, Assign{Column: p.Columns[0].Name})
			r.into(&out[len(out)-1].Value, p.Value)
			continue
		}
		v := r.expr(p.Value)
		for i, c := range p.Columns {
			e := v
			if p.Paren && isRow(&v) && i < len(v.Args) {
				e = v.Args[i]
			}
			out = append(out, Assign{c.Name, e})
		}
	}
	return out
}

func (r sqliteReader) outputs(list []*ast.ResultColumn) []Expr {
	if len(list) == 0 {
		return nil
	}
	out := make([]Expr, len(list))
	for i, c := range list {
		r.into(&out[i], c.Expr)
		out[i].Alias = ident(c.Alias)
	}
	return out
}

func (r sqliteReader) order(terms []*ast.OrderingTerm, limit *ast.Limit) {
	for _, t := range terms {
		r.expr(t.Expr)
	}
	if limit != nil {
		r.expr(limit.Count)
		r.expr(limit.Offset)
	}
}

func (r sqliteReader) with(w *ast.With) {
	if w == nil {
		return
	}
	if w.Recursive {
		for _, c := range w.CTEs {
			r.addCTE(c.Name.Name)
		}
	}
	for _, c := range w.CTEs {
		q := r.query(c.Select)
		q.Name = c.Name.Name
		r.stmt.CTEs = append(r.stmt.CTEs, q)
		if !w.Recursive {
			r.addCTE(c.Name.Name)
		}
	}
}

// addCTE brings a name into scope; SQLite's names have no case.
func (r sqliteReader) addCTE(name string) { r.ctes = append(r.ctes, strings.ToLower(name)) }

func (r sqliteReader) query(s *ast.SelectStmt) *Query {
	q := &Query{}
	scope := len(r.ctes)
	r.within(&q.Sub, func() {
		r.with(s.With)
		if len(s.Cores) == 1 {
			r.core(q, s.Cores[0])
			return
		}
		for _, c := range s.Cores {
			arm := &Query{}
			r.within(&arm.Sub, func() { r.core(arm, c) })
			r.track(arm, c.Pos())
			r.nested(arm)
		}
		q.Output = q.Sub[0].Output
	})
	r.ctes = r.ctes[:scope]
	r.track(q, s.Start)
	return q
}

func (r sqliteReader) core(q *Query, c ast.SelectCore) {
	switch c := c.(type) {
	case *ast.ValuesClause:
		for i, row := range c.Rows {
			exprs := r.exprs(row)
			if i == 0 {
				q.Output = exprs
			}
		}
	case *ast.SelectQuery:
		q.Output = r.outputs(c.Columns)
		r.from(c.From, source{&q.From, &q.Derived, &q.Where})
		q.Where = r.conds(q.Where, c.Where)
		r.exprs(c.GroupBy)
		r.conds(nil, c.Having)
		for _, w := range c.Windows {
			r.window(w)
		}
		r.order(c.OrderBy, c.Limit)
	}
}

func (r sqliteReader) window(w *ast.WindowDef) {
	r.exprs(w.Partition)
	r.order(w.OrderBy, nil)
}

// from reads a FROM clause. SQLite's is flat: an item says how it joins what is
// to its left, and ON of an outer join removes no row there.
func (r sqliteReader) from(list []*ast.TableRef, to source) {
	var dropped []Cond
	for i, t := range list {
		on := to.where
		if t.Join != nil && t.Join.Type&(ast.JoinLeft|ast.JoinRight|ast.JoinOuter) != 0 {
			on = &dropped
			if t.Join.Type&ast.JoinRight != 0 {
				*to.where = nil // the conditions so far restrict the other side only
			}
		}
		r.fromItem(t, source{to.tables, to.derived, on})
		*on = r.conds(*on, t.On)
		for _, u := range t.Using {
			left := ""
			if i == 1 {
				left = refName(list[0])
			}
			*on = append(*on, Cond{Op: "=", Left: column(left, u.Name), Right: column(refName(t), u.Name)})
		}
	}
}

func (r sqliteReader) fromItem(t *ast.TableRef, to source) {
	switch {
	case t.Select != nil:
		r.nested(r.query(t.Select))
		*to.derived = append(*to.derived, Table{Alias: ident(t.Alias)})
	case t.Name == nil:
		r.from(t.List, to)
	case t.HasArgs:
		name := strings.ToLower(ident(t.Name.Name))
		r.call(name, t.Start)
		r.exprs(t.Args)
		*to.derived = append(*to.derived, Table{Name: name, Alias: ident(t.Alias)})
	case r.isCTE(ident(t.Name.Schema), strings.ToLower(ident(t.Name.Name))):
		*to.derived = append(*to.derived, Table{Name: ident(t.Name.Name), Alias: ident(t.Alias)})
	default:
		*to.tables = append(*to.tables, r.target(t.Name, t.Alias))
	}
}

// refName is the name columns of a FROM item are qualified with, if it is one.
func refName(t *ast.TableRef) string {
	if t.Alias == nil && t.Name != nil {
		return ident(t.Name.Name)
	}
	return ident(t.Alias)
}
