package schema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sqlc-dev/meyer/ast"
	"github.com/sqlc-dev/meyer/parser"
)

// parseSQLite parses one statement of SQLite.
func parseSQLite(text string) (effect, error) {
	stmt, err := parser.ParseStatement(text)
	var syntax *parser.Error
	if errors.As(err, &syntax) {
		return nil, errors.New(syntax.Message) // its position counts from the statement
	}
	if err != nil {
		return nil, err
	}
	return func(r *reader, st *statement) outcome {
		return (&lite{reader: r, st: st}).apply(stmt)
	}, nil
}

// lite applies one statement of SQLite.
type lite struct {
	*reader
	st *statement
}

func (l *lite) apply(stmt ast.Stmt) outcome {
	switch n := stmt.(type) {
	case *ast.CreateTableStmt:
		return l.createTable(n)
	case *ast.AlterTableStmt:
		return l.alterTable(n)
	case *ast.DropTableStmt:
		l.drop(qualified(n.Name))
		return applied()
	case *ast.CreateIndexStmt:
		return l.index(n)
	case *ast.DropIndexStmt:
		l.dropKey(n.Name.Name.Name)
		return applied()
	case *ast.CreateTriggerStmt:
		return l.trigger(n)
	case *ast.DropTriggerStmt:
		for _, e := range l.tables {
			e.dropTrigger(n.Name.Name.Name)
		}
		return applied()
	}
	return ignored(kindOf(l.st.words))
}

func (l *lite) at(offset int) int { return l.st.start + offset }

// source is the text of a node as written.
func (l *lite) source(start, end int) string { return string(l.st.src.text[l.at(start):l.at(end)]) }

// qualified is a table's name; "main" is the name every database has.
func qualified(q *ast.QualifiedName) name {
	n := name{name: q.Name.Name}
	if q.Schema != nil && !strings.EqualFold(q.Schema.Name, "main") {
		n.schema = q.Schema.Name
	}
	return n
}

func (l *lite) createTable(n *ast.CreateTableStmt) outcome {
	is := qualified(n.Name)
	if n.Temp || strings.EqualFold(is.schema, "temp") {
		return ignored("CREATE TEMPORARY TABLE")
	}
	if n.Select != nil {
		return failed("table %s skipped: the columns of CREATE TABLE AS are not read", is)
	}
	e, fresh := l.newTable(is, l.st)
	anchors := []anchor{{offset: l.st.start, table: e.Table}}
	if !fresh && !n.IfNotExists {
		l.note(l.st.src.pos(l.st.start), fmt.Sprintf("table %s skipped: it exists since %s", is, e.Pos))
		return applied(anchors...)
	}
	if fresh {
		l.tables = append(l.tables, e)
		for _, o := range n.Options {
			e.Strict = e.Strict || !o.Without && strings.EqualFold(o.Name.Name, "strict")
		}
	}
	for _, def := range n.Columns {
		if fresh {
			l.addColumn(e, def)
		}
		anchors = append(anchors, anchor{offset: l.at(def.Name.Start), column: e.Column(def.Name.Name)})
	}
	for _, c := range n.Constraints {
		if fresh {
			l.constraint(e, c)
		}
		anchors = append(anchors, anchor{offset: l.at(c.Start)})
	}
	if fresh {
		e.finishPrimary(e.Strict || hasOption(n.Options, "rowid"))
	}
	return applied(anchors...)
}

func hasOption(options []*ast.TableOption, without string) bool {
	for _, o := range options {
		if o.Without && strings.EqualFold(o.Name.Name, without) {
			return true
		}
	}
	return false
}

// finishPrimary applies what a primary key means in SQLite: a lone INTEGER one
// is the rowid and numbers itself; others may be NULL unless the table is STRICT
// or WITHOUT ROWID.
func (e *entry) finishPrimary(strict bool) {
	columns := e.primary()
	for _, column := range columns {
		e.change(column, func(c *Column) {
			if len(columns) == 1 && c.Type == "integer" {
				c.NotNull, c.HasDefault = true, true
			}
			c.NotNull = c.NotNull || strict
		})
	}
}

// typeName is a column's type. The words of GENERATED ALWAYS are part of it for
// SQLite, not for anybody else.
func typeName(t *ast.TypeName) string {
	if t == nil {
		return ""
	}
	words := strings.ToLower(strings.Join(strings.Fields(t.Name), " "))
	return strings.TrimSpace(strings.TrimSuffix(words, "generated always"))
}

func (l *lite) addColumn(e *entry, def *ast.ColumnDef) {
	col := &Column{Name: def.Name.Name, Type: typeName(def.Type), Pos: l.st.src.pos(l.at(def.Name.Start))}
	col.Base = col.Type
	if !e.addColumn(col) {
		return
	}
	for _, c := range def.Constraints {
		k := key{columns: []string{col.Name}}
		if c.Name != nil {
			k.name = c.Name.Name
		}
		switch c.Kind {
		case ast.ColumnNull:
			col.NotNull = false
		case ast.ColumnNotNull:
			col.NotNull = true
		case ast.ColumnDefault:
			col.HasDefault = !isNullLiteral(c.Expr)
		case ast.ColumnGenerated:
			col.Generated = true
		case ast.ColumnPrimaryKey:
			k.primary = true
			e.addKey(k)
		case ast.ColumnUnique:
			e.addKey(k)
		}
	}
}

func isNullLiteral(e ast.Expr) bool {
	lit, ok := e.(*ast.Literal)
	return ok && lit.Kind == ast.LitNull
}

func (l *lite) constraint(e *entry, c *ast.TableConstraint) {
	if c.Kind != ast.TablePrimaryKey && c.Kind != ast.TableUnique {
		return
	}
	columns, ok := plainColumns(c.Columns)
	if !ok {
		return
	}
	k := key{columns: columns, primary: c.Kind == ast.TablePrimaryKey}
	if c.Name != nil {
		k.name = c.Name.Name
	}
	e.addKey(k)
}

// plainColumns is the columns of an index or key; false if one is an expression.
func plainColumns(terms []*ast.OrderingTerm) ([]string, bool) {
	var columns []string
	for _, t := range terms {
		expr := t.Expr
		if c, ok := expr.(*ast.CollateExpr); ok {
			expr = c.X
		}
		id, ok := expr.(*ast.Ident)
		if !ok {
			return nil, false
		}
		columns = append(columns, id.Name)
	}
	return columns, true
}

func (l *lite) index(n *ast.CreateIndexStmt) outcome {
	columns, plain := plainColumns(n.Columns)
	if !n.Unique || n.Where != nil || !plain {
		return applied()
	}
	is := name{name: n.Table.Name}
	e := l.find(is)
	if e == nil {
		return elsewhere(is)
	}
	e.addKey(key{name: n.Name.Name.Name, columns: columns})
	return applied()
}

func (l *lite) alterTable(n *ast.AlterTableStmt) outcome {
	e := l.find(qualified(n.Table))
	if e == nil {
		return elsewhere(qualified(n.Table))
	}
	switch n.Action {
	case ast.AlterRenameTable:
		e.Name = n.NewName.Name
	case ast.AlterRenameColumn:
		e.renameColumn(n.Column.Name, n.NewName.Name)
	case ast.AlterDropColumn:
		e.dropColumn(n.Column.Name)
	case ast.AlterSetNotNull:
		e.change(n.Column.Name, func(c *Column) { c.NotNull = true })
	case ast.AlterDropNotNull:
		e.change(n.Column.Name, func(c *Column) { c.NotNull = false })
	case ast.AlterAddColumn:
		return l.alterAdd(e, n.ColumnDef)
	}
	return applied()
}

func (l *lite) alterAdd(e *entry, def *ast.ColumnDef) outcome {
	offset := l.at(def.Name.Start)
	if m := adding.FindStringIndex(l.st.bare(l.st.start, offset)); m != nil {
		offset = l.st.start + m[0]
	}
	a := anchor{offset: offset, column: e.Column(def.Name.Name)}
	if a.column != nil {
		l.note(l.st.src.pos(l.st.start), fmt.Sprintf("ALTER TABLE %s: it has a column %s already", e.Name, def.Name.Name))
		return applied(a)
	}
	l.addColumn(e, def)
	a.column = e.Column(def.Name.Name)
	return applied(a)
}

func (l *lite) trigger(n *ast.CreateTriggerStmt) outcome {
	if n.HasTime && n.Time == ast.TriggerInsteadOf {
		return ignored("CREATE TRIGGER on a view")
	}
	e := l.find(qualified(n.Table))
	if e == nil {
		return elsewhere(qualified(n.Table))
	}
	t := trigger{Trigger: Trigger{
		Name:   n.Name.Name.Name,
		Events: []string{strings.ToLower(n.Event)},
		Before: !n.HasTime || n.Time == ast.TriggerBefore,
		Pos:    l.st.src.pos(l.st.start),
	}}
	for _, c := range n.UpdateOf {
		t.UpdateOf = append(t.UpdateOf, c.Name)
	}
	if n.When != nil {
		t.When = l.source(n.When.Pos(), n.When.End())
	}
	if len(n.Body) > 0 {
		t.Body = l.source(n.Body[0].Pos(), n.Body[len(n.Body)-1].End())
	}
	e.addTrigger(t)
	return applied()
}
