package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sqlc-dev/marino/ast"
	mysqlmode "github.com/sqlc-dev/marino/mysql"

	"github.com/fencelint/fence/internal/sqlstmt"
)

func parseMySQL(text string) (effect, error) { return parseMarino(text, sqlstmt.MySQL) }

func parseMariaDB(text string) (effect, error) { return parseMarino(text, sqlstmt.MariaDB) }

// parseMarino parses one statement of MySQL or MariaDB. If that fails it tries
// without what the parser does not know and nobody here needs.
func parseMarino(text string, d sqlstmt.Dialect) (effect, error) {
	if why := sqlstmt.Refused(text, d); why != "" {
		return nil, errors.New(why)
	}
	node, err := marinoStatement(text)
	if err != nil {
		if node, err = marinoStatement(withoutExtras(text, d)); err != nil {
			return nil, err
		}
	}
	return func(r *reader, st *statement) outcome {
		return (&my{reader: r, st: st, text: newMyText(st)}).apply(node)
	}, nil
}

// my applies one statement of MySQL or MariaDB.
type my struct {
	*reader
	st   *statement
	text *myText
}

func (m *my) apply(node ast.StmtNode) outcome {
	switch n := node.(type) {
	case *ast.CreateTableStmt:
		return m.createTable(n)
	case *ast.AlterTableStmt:
		return m.alterTable(n)
	case *ast.RenameTableStmt:
		return m.renameTables(n)
	case *ast.DropTableStmt:
		return m.dropTables(n)
	case *ast.CreateIndexStmt:
		return m.index(n)
	case *ast.DropIndexStmt:
		return m.onTable(n.Table, func(e *entry) { e.dropOwnKey(n.IndexName) })
	case *ast.CreateTriggerStmt:
		return m.trigger(n)
	case *ast.DropTriggerStmt:
		for _, e := range m.tables {
			e.dropTrigger(n.TriggerName.Name.O)
		}
		return applied()
	}
	return ignored(kindOf(m.st.words))
}

func tableName(t *ast.TableName) name { return name{t.Schema.O, t.Name.O} }

// onTable applies f to the table a statement names.
func (m *my) onTable(t *ast.TableName, f func(*entry)) outcome {
	e := m.find(tableName(t))
	if e == nil {
		return elsewhere(tableName(t))
	}
	f(e)
	return applied()
}

func (m *my) createTable(n *ast.CreateTableStmt) outcome {
	is := tableName(n.Table)
	switch {
	case n.TemporaryKeyword != ast.TemporaryNone:
		return ignored("CREATE TEMPORARY TABLE")
	case n.Select != nil:
		return failed("table %s skipped: the columns of CREATE TABLE AS are not read", is)
	case len(m.st.words) > 1 && m.st.words[1] == "OR": // MariaDB's CREATE OR REPLACE
		m.drop(is)
	}
	e, fresh := m.newTable(is, m.st)
	anchors := []anchor{{offset: m.st.start, table: e.Table}}
	if !fresh && !n.IfNotExists {
		m.note(m.st.src.pos(m.st.start), fmt.Sprintf("table %s skipped: it exists since %s", is, e.Pos))
		return applied(anchors...)
	}
	if fresh {
		m.tables = append(m.tables, e)
		m.like(e, n.ReferTable)
	}
	places, others := m.text.columns(n.Cols)
	for i, def := range n.Cols {
		if fresh {
			m.addColumn(e, def, places[i])
		}
		anchors = append(anchors, anchor{offset: places[i].name, column: e.Column(def.Name.Name.O)})
	}
	for _, offset := range others {
		anchors = append(anchors, anchor{offset: offset})
	}
	slices.SortStableFunc(anchors[1:], func(a, b anchor) int { return a.offset - b.offset })
	if fresh {
		for _, c := range n.Constraints {
			e.constrain(c)
		}
	}
	return applied(anchors...)
}

// like copies the columns and keys of another table. Directives stay behind: an
// archive made LIKE a protected table is a table of its own.
func (m *my) like(e *entry, model *ast.TableName) {
	if model == nil {
		return
	}
	from := m.find(tableName(model))
	if from == nil {
		m.note(e.Pos, fmt.Sprintf("table %s: columns missing: LIKE %s is not in the schema", e.Name, tableName(model)))
		return
	}
	for _, c := range from.Columns {
		own := copied(c)
		own.Directives = nil
		e.addColumn(own)
	}
	for _, k := range from.keys {
		e.addKey(k)
	}
}

func (m *my) addColumn(e *entry, def *ast.ColumnDef, at site) {
	col := &Column{Name: def.Name.Name.O, Pos: m.st.src.pos(at.name)}
	if !e.addColumn(col) {
		return
	}
	m.define(e, col, def, at)
}

// define gives a column what its definition says.
func (m *my) define(e *entry, col *Column, def *ast.ColumnDef, at site) {
	col.Type = m.text.typeOf(at)
	if col.Type == "" {
		col.Type, _, _ = strings.Cut(def.Tp.CompactStr(), "(")
	}
	col.Base = col.Type
	if mysqlmode.HasUnsignedFlag(def.Tp.GetFlag()) && col.Base != "serial" {
		col.Type += " unsigned"
	}
	col.Labels = nil
	if col.Base == "enum" {
		col.Labels = def.Tp.GetElems()
	}
	versions := m.text.versionColumn(at)
	col.NotNull, col.HasDefault, col.Generated = versions, false, versions
	for _, o := range def.Options {
		if f := columnOptions[o.Tp]; f != nil {
			f(e, col, o)
		}
	}
	if slices.ContainsFunc(e.primary(), func(c string) bool { return strings.EqualFold(c, col.Name) }) {
		col.NotNull = true
	}
}

// columnOptions are the parts of a column's definition that matter here.
var columnOptions = map[ast.ColumnOptionType]func(*entry, *Column, *ast.ColumnOption){
	ast.ColumnOptionNotNull:       func(_ *entry, c *Column, _ *ast.ColumnOption) { c.NotNull = true },
	ast.ColumnOptionNull:          func(_ *entry, c *Column, _ *ast.ColumnOption) { c.NotNull = false },
	ast.ColumnOptionAutoIncrement: func(_ *entry, c *Column, _ *ast.ColumnOption) { c.NotNull, c.HasDefault = true, true },
	ast.ColumnOptionDefaultValue:  func(_ *entry, c *Column, o *ast.ColumnOption) { c.HasDefault = !isMyNull(o.Expr) },
	ast.ColumnOptionGenerated:     func(_ *entry, c *Column, _ *ast.ColumnOption) { c.Generated = true },
	ast.ColumnOptionPrimaryKey:    func(e *entry, c *Column, _ *ast.ColumnOption) { e.addMyKey("", []string{c.Name}, true) },
	ast.ColumnOptionUniqKey:       func(e *entry, c *Column, _ *ast.ColumnOption) { e.addMyKey("", []string{c.Name}, false) },
}

func isMyNull(e ast.ExprNode) bool {
	v, ok := e.(*ast.ValueExprBase)
	return ok && v.Kind() == ast.KindNull
}

// primaryName is the name of every primary key.
const primaryName = "PRIMARY"

// addMyKey adds a key under the name MySQL would give it: that of its first column,
// with a number if another has it.
func (e *entry) addMyKey(named string, columns []string, primary bool) {
	if len(columns) == 0 {
		return
	}
	if primary {
		named = primaryName
	}
	if named == "" {
		named = columns[0]
		for i := 2; slices.ContainsFunc(e.keys, func(k key) bool { return strings.EqualFold(k.name, named) }); i++ {
			named = fmt.Sprintf("%s_%d", columns[0], i)
		}
	}
	e.addKey(key{name: named, columns: columns, primary: primary})
	if !primary {
		return
	}
	for _, column := range columns {
		e.change(column, func(c *Column) { c.NotNull = true })
	}
}

// constrain adds a primary key or a unique key; others are none of ours.
func (e *entry) constrain(c *ast.Constraint) {
	switch c.Tp {
	case ast.ConstraintPrimaryKey:
		columns, _ := keyColumns(c.Keys)
		e.addMyKey("", columns, true)
	case ast.ConstraintUniq, ast.ConstraintUniqKey, ast.ConstraintUniqIndex:
		if columns, whole := keyColumns(c.Keys); whole {
			e.addMyKey(c.Name, columns, false)
		}
	}
}

// keyColumns is the columns of a key; whole is false if one is an expression or
// only the beginning of a column.
func keyColumns(parts []*ast.IndexPartSpecification) (columns []string, whole bool) {
	whole = true
	for _, p := range parts {
		if p.Column == nil {
			whole = false
			continue
		}
		whole = whole && p.Length <= 0
		columns = append(columns, p.Column.Name.O)
	}
	return columns, whole
}

func (m *my) index(n *ast.CreateIndexStmt) outcome {
	columns, whole := keyColumns(n.IndexPartSpecifications)
	if n.KeyType != ast.IndexKeyTypeUnique || !whole {
		return applied()
	}
	return m.onTable(n.Table, func(e *entry) { e.addMyKey(n.IndexName, columns, false) })
}

func (m *my) renameTables(n *ast.RenameTableStmt) outcome {
	var missing []string
	for _, t := range n.TableToTables {
		if e := m.find(tableName(t.OldTable)); e != nil {
			e.rename(tableName(t.NewTable))
			continue
		}
		missing = append(missing, tableName(t.OldTable).String())
	}
	if len(missing) > 0 {
		return failed("table %s is not in the schema", strings.Join(missing, ", "))
	}
	return applied()
}

// rename gives a table another name, in another schema if that says one.
func (e *entry) rename(to name) {
	e.Name = to.name
	if to.schema != "" {
		e.Schema = to.schema
	}
}

func (m *my) dropTables(n *ast.DropTableStmt) outcome {
	if n.IsView || n.TemporaryKeyword != ast.TemporaryNone {
		return ignored(kindOf(m.st.words))
	}
	for _, t := range n.Tables {
		m.drop(tableName(t))
	}
	return applied()
}

var triggerEventNames = map[ast.TriggerEvent]string{
	ast.TriggerEventInsert: "insert", ast.TriggerEventUpdate: "update", ast.TriggerEventDelete: "delete",
}

func (m *my) trigger(n *ast.CreateTriggerStmt) outcome {
	return m.onTable(n.Table, func(e *entry) {
		e.addTrigger(trigger{Trigger: Trigger{
			Name:   n.TriggerName.Name.O,
			Events: []string{triggerEventNames[n.TriggerEvent]},
			Before: n.TriggerTime == ast.TriggerTimeBefore,
			Body:   m.text.triggerBody(),
			Pos:    m.st.src.pos(m.st.start),
		}})
	})
}
