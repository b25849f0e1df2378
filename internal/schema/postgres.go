package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sqlc-dev/oliphant/ast"
	"github.com/sqlc-dev/oliphant/parser"
)

// parsePostgres parses one statement of PostgreSQL.
func parsePostgres(text string) (effect, error) {
	tree, err := parser.ParseToTree(text)
	if err != nil {
		return nil, err
	}
	if len(tree.GetStmts()) != 1 {
		return nil, fmt.Errorf("not one statement")
	}
	node := tree.GetStmts()[0].GetStmt()
	return func(r *reader, st *statement) outcome {
		return (&pg{reader: r, st: st}).apply(node)
	}, nil
}

// pg applies one statement of PostgreSQL.
type pg struct {
	*reader
	st *statement
}

func (p *pg) apply(node *ast.Node) outcome {
	switch n := node.GetNode().(type) {
	case *ast.Node_CreateStmt:
		return p.createTable(n.CreateStmt)
	case *ast.Node_AlterTableStmt:
		return p.alterTable(n.AlterTableStmt)
	case *ast.Node_RenameStmt:
		return p.rename(n.RenameStmt)
	case *ast.Node_AlterObjectSchemaStmt:
		return p.setSchema(n.AlterObjectSchemaStmt)
	case *ast.Node_DropStmt:
		return p.drop(n.DropStmt)
	case *ast.Node_IndexStmt:
		return p.index(n.IndexStmt)
	case *ast.Node_CreateFunctionStmt:
		return p.function(n.CreateFunctionStmt)
	case *ast.Node_CreateTrigStmt:
		return p.trigger(n.CreateTrigStmt)
	case *ast.Node_CreateDomainStmt:
		return p.domain(n.CreateDomainStmt)
	case *ast.Node_CreateEnumStmt:
		e := &enum{names(n.CreateEnumStmt.GetTypeName()), words(n.CreateEnumStmt.GetVals())}
		p.domains = append(p.domains, domain{name: e.name, base: "enum", enum: e})
		return applied()
	case *ast.Node_AlterEnumStmt:
		return p.alterEnum(n.AlterEnumStmt)
	case *ast.Node_CreateTableAsStmt:
		if n.CreateTableAsStmt.GetObjtype() != ast.ObjectType_OBJECT_TABLE {
			break
		}
		return failed("table %s skipped: the columns of CREATE TABLE AS are not read", rangeName(n.CreateTableAsStmt.GetInto().GetRel()))
	case *ast.Node_CompositeTypeStmt:
		t := n.CompositeTypeStmt.GetTypevar()
		p.domains = append(p.domains, domain{name: rangeName(t), base: "record"})
		return applied()
	}
	return ignored(kindOf(p.st.words))
}

// kindOf is the statement's kind in its own words: CREATE VIEW, ALTER SEQUENCE.
func kindOf(words []string) string {
	defined := false // by somebody, as MySQL says before the kind
	for _, w := range words[1:] {
		defined = defined || w == "DEFINER" || w == "ALGORITHM"
		if !between[w] && (!defined || bodies[w] || w == "VIEW") {
			return words[0] + " " + w
		}
	}
	return words[0]
}

// at is the offset in the file of a location in the statement.
func (p *pg) at(location int32) int { return p.st.start + max(int(location), 0) }

func rangeName(r *ast.RangeVar) name { return name{r.GetSchemaname(), r.GetRelname()} }

// names is the name a list of strings spells.
func names(list []*ast.Node) name {
	var parts []string
	for _, n := range list {
		parts = append(parts, n.GetString_().GetSval())
	}
	switch len(parts) {
	case 0:
		return name{}
	case 1:
		return name{name: parts[0]}
	}
	return name{parts[len(parts)-2], parts[len(parts)-1]}
}

// words is the strings of a list.
func words(list []*ast.Node) []string {
	var all []string
	for _, n := range list {
		all = append(all, n.GetString_().GetSval())
	}
	return all
}

func (p *pg) createTable(n *ast.CreateStmt) outcome {
	is := rangeName(n.GetRelation())
	if n.GetRelation().GetRelpersistence() == "t" {
		return ignored("CREATE TEMPORARY TABLE")
	}
	if n.GetOfTypename() != nil {
		return failed("table %s skipped: the columns of a table OF a type are not read", is)
	}
	e, fresh := p.newTable(is, p.st)
	anchors := []anchor{{offset: p.st.start, table: e.Table}}
	if !fresh && !n.GetIfNotExists() {
		p.note(p.st.src.pos(p.st.start), fmt.Sprintf("table %s skipped: it exists since %s", is, e.Pos))
		return applied(anchors...)
	}
	if fresh {
		p.tables = append(p.tables, e)
	}
	var problems []string
	if fresh {
		problems = p.inherit(e, n)
	}
	for _, elt := range n.GetTableElts() {
		a, problem := p.element(e, elt, fresh)
		anchors = append(anchors, a)
		if problem != "" {
			problems = append(problems, problem)
		}
	}
	if len(problems) > 0 {
		p.note(e.Pos, fmt.Sprintf("table %s: %s", is, strings.Join(problems, "; ")))
	}
	return applied(anchors...)
}

// element reads one element of CREATE TABLE. Of a table that exists already it
// only finds the place of a column, for its directives.
func (p *pg) element(e *entry, elt *ast.Node, fresh bool) (anchor, string) {
	switch n := elt.GetNode().(type) {
	case *ast.Node_ColumnDef:
		a := anchor{offset: p.at(n.ColumnDef.GetLocation())}
		if fresh {
			p.addColumn(e, n.ColumnDef)
		}
		a.column = e.Column(n.ColumnDef.GetColname())
		return a, ""
	case *ast.Node_Constraint:
		if fresh {
			p.constraint(e, n.Constraint)
		}
		return anchor{offset: p.at(n.Constraint.GetLocation())}, ""
	case *ast.Node_TableLikeClause:
		a := anchor{offset: p.at(n.TableLikeClause.GetRelation().GetLocation())}
		if !fresh {
			return a, ""
		}
		return a, p.like(e, n.TableLikeClause)
	}
	return anchor{offset: p.st.start}, ""
}

// addColumn adds a column, or refines the one e has from its parent.
func (p *pg) addColumn(e *entry, def *ast.ColumnDef) {
	col := e.Column(def.GetColname())
	if col == nil {
		col = &Column{Name: def.GetColname(), Pos: p.st.src.pos(p.at(def.GetLocation()))}
	}
	if def.GetTypeName() != nil {
		p.setType(col, def.GetTypeName())
	}
	for _, c := range def.GetConstraints() {
		if f := columnConstraints[c.GetConstraint().GetContype()]; f != nil {
			f(col, c.GetConstraint())
		}
	}
	e.addColumn(col)
	for _, c := range def.GetConstraints() {
		p.key(e, c.GetConstraint(), []string{col.Name})
	}
}

// serials are types that are a sequence behind a column.
var serials = map[string]bool{
	"serial": true, "bigserial": true, "smallserial": true, "serial2": true, "serial4": true, "serial8": true,
}

// longestType is more than any type takes, comments and line breaks included.
const longestType = 1 << 10

func (p *pg) setType(col *Column, t *ast.TypeName) {
	start := p.at(t.GetLocation())
	col.Type = writtenType(p.st.bare(start, min(start+longestType, p.st.end)))
	array := len(t.GetArrayBounds()) > 0 && strings.HasSuffix(col.Type, "[]")
	p.settle(col, names(t.GetNames()), array)
	if serials[col.Type] {
		col.NotNull, col.HasDefault = true, true
	}
}

// columnConstraints are the constraints of one column that change it.
var columnConstraints = map[ast.ConstrType]func(*Column, *ast.Constraint){
	ast.ConstrType_CONSTR_NULL:      func(c *Column, _ *ast.Constraint) { c.NotNull = false },
	ast.ConstrType_CONSTR_NOTNULL:   func(c *Column, _ *ast.Constraint) { c.NotNull = true },
	ast.ConstrType_CONSTR_DEFAULT:   func(c *Column, d *ast.Constraint) { c.HasDefault = !isNull(d.GetRawExpr()) },
	ast.ConstrType_CONSTR_GENERATED: func(c *Column, _ *ast.Constraint) { c.Generated = true },
	ast.ConstrType_CONSTR_IDENTITY:  identity,
}

func identity(c *Column, d *ast.Constraint) {
	c.NotNull, c.HasDefault = true, true
	c.Generated = d.GetGeneratedWhen() == "a"
}

func isNull(n *ast.Node) bool { return n.GetAConst().GetIsnull() }

func (p *pg) constraint(e *entry, c *ast.Constraint) {
	if c.GetContype() == ast.ConstrType_CONSTR_NOTNULL {
		for _, column := range words(c.GetKeys()) {
			e.change(column, func(c *Column) { c.NotNull = true })
		}
		return
	}
	p.key(e, c, words(c.GetKeys()))
}

// key adds a primary key or a unique constraint; others are none of ours.
func (p *pg) key(e *entry, c *ast.Constraint, columns []string) {
	k := key{name: c.GetConname(), columns: columns}
	switch c.GetContype() {
	case ast.ConstrType_CONSTR_PRIMARY:
		k.primary = true
	case ast.ConstrType_CONSTR_UNIQUE:
	default:
		return
	}
	if c.GetIndexname() != "" {
		if !p.promote(e, c.GetIndexname(), k) {
			return
		}
	} else if !c.GetWithoutOverlaps() {
		e.addKey(k)
	}
	if !k.primary {
		return
	}
	for _, column := range e.primary() {
		e.change(column, func(c *Column) { c.NotNull = true })
	}
}

// promote makes a constraint of a unique index.
func (p *pg) promote(e *entry, index string, k key) bool {
	for _, old := range e.keys {
		if strings.EqualFold(old.name, index) {
			k.columns = old.columns
			if k.name == "" {
				k.name = old.name
			}
			p.dropKey(index)
			e.addKey(k)
			return true
		}
	}
	return false
}

// The options of LIKE that matter here, as PostgreSQL numbers them.
const (
	likeDefaults  = 1 << 3
	likeGenerated = 1 << 4
	likeIdentity  = 1 << 5
	likeIndexes   = 1 << 6
)

// like copies the columns of another table. Directives stay behind: an archive
// made LIKE a protected table is a table of its own.
func (p *pg) like(e *entry, n *ast.TableLikeClause) string {
	model := p.find(rangeName(n.GetRelation()))
	if model == nil {
		return fmt.Sprintf("columns missing: LIKE %s is not in the schema", rangeName(n.GetRelation()))
	}
	has := func(option uint32) bool { return n.GetOptions()&option != 0 }
	for _, c := range model.Columns {
		own := copied(c)
		own.Directives = nil
		own.HasDefault = c.HasDefault && (has(likeDefaults) || c.Generated && has(likeIdentity))
		own.Generated = c.Generated && (has(likeGenerated) || has(likeIdentity))
		e.addColumn(own)
	}
	if !has(likeIndexes) {
		return ""
	}
	for _, k := range model.keys {
		e.addKey(key{columns: k.columns, primary: k.primary})
	}
	return ""
}

// inherit gives e the columns of the tables it inherits from or is a partition
// of.
func (p *pg) inherit(e *entry, n *ast.CreateStmt) (problems []string) {
	for _, parent := range n.GetInhRelations() {
		of := rangeName(parent.GetRangeVar())
		from := p.find(of)
		if from == nil {
			problems = append(problems, fmt.Sprintf("columns missing: its parent %s is not in the schema", of))
			continue
		}
		from.adopt(e, n.GetPartbound() != nil)
	}
	return problems
}

func (p *pg) setSchema(n *ast.AlterObjectSchemaStmt) outcome {
	if n.GetObjectType() != ast.ObjectType_OBJECT_TABLE {
		return ignored(kindOf(p.st.words))
	}
	e := p.find(rangeName(n.GetRelation()))
	if e == nil {
		return p.unknownTable(rangeName(n.GetRelation()))
	}
	e.Schema = n.GetNewschema()
	return applied()
}

func (p *pg) unknownTable(n name) outcome {
	return elsewhere(n)
}

func (p *pg) drop(n *ast.DropStmt) outcome {
	for _, o := range n.GetObjects() {
		list := o.GetList().GetItems()
		switch n.GetRemoveType() {
		case ast.ObjectType_OBJECT_TABLE:
			p.catalog.drop(names(list))
		case ast.ObjectType_OBJECT_INDEX:
			p.dropKey(names(list).name)
		case ast.ObjectType_OBJECT_TRIGGER:
			p.dropTrigger(list)
		default:
			return ignored(kindOf(p.st.words))
		}
	}
	return applied()
}

// dropTrigger gets the table's name followed by the trigger's.
func (p *pg) dropTrigger(list []*ast.Node) {
	if len(list) < 2 {
		return
	}
	last := len(list) - 1
	e := p.find(names(list[:last]))
	if e == nil {
		return
	}
	for _, t := range e.partitions() {
		t.dropTrigger(names(list[last:]).name)
	}
}

func (p *pg) index(n *ast.IndexStmt) outcome {
	e := p.find(rangeName(n.GetRelation()))
	if !n.GetUnique() || n.GetWhereClause() != nil {
		return applied()
	}
	if e == nil {
		return p.unknownTable(rangeName(n.GetRelation()))
	}
	var columns []string
	for _, param := range n.GetIndexParams() {
		column := param.GetIndexElem().GetName()
		if column == "" {
			return applied() // on an expression
		}
		columns = append(columns, column)
	}
	named := n.GetIdxname()
	if named == "" {
		named = e.Name + "_" + strings.Join(columns, "_") + "_idx"
	}
	e.addKey(key{name: named, columns: columns})
	return applied()
}

var atomicBody = regexp.MustCompile(`(?is)\bbegin\s+atomic\b.*`)

// function remembers the body of a function that a trigger can call.
func (p *pg) function(n *ast.CreateFunctionStmt) outcome {
	if len(n.GetParameters()) > 0 || n.GetIsProcedure() {
		return ignored(kindOf(p.st.words))
	}
	f := function{name: names(n.GetFuncname())}
	if n.GetSqlBody() != nil {
		f.body = atomicBody.FindString(p.st.text())
	}
	for _, o := range n.GetOptions() {
		if o.GetDefElem().GetDefname() == "as" {
			if as := words(o.GetDefElem().GetArg().GetList().GetItems()); len(as) > 0 {
				f.body = as[0]
			}
		}
	}
	p.setFunction(f)
	return applied()
}

// The bits of a trigger, as PostgreSQL numbers them.
const (
	triggerBefore  = 1 << 1
	triggerInstead = 1 << 6
)

var triggerEvents = []struct {
	bit  int32
	name string
}{{1 << 2, "insert"}, {1 << 4, "update"}, {1 << 3, "delete"}, {1 << 5, "truncate"}}

var whenCondition = regexp.MustCompile(`(?is)\bwhen\s*\((.*)\)\s*execute\b`)

func (p *pg) trigger(n *ast.CreateTrigStmt) outcome {
	if n.GetTiming()&triggerInstead != 0 {
		return ignored("CREATE TRIGGER on a view")
	}
	e := p.find(rangeName(n.GetRelation()))
	if e == nil {
		return p.unknownTable(rangeName(n.GetRelation()))
	}
	t := trigger{function: names(n.GetFuncname()), Trigger: Trigger{
		Name:     n.GetTrigname(),
		UpdateOf: words(n.GetColumns()),
		Before:   n.GetTiming()&triggerBefore != 0,
		Pos:      p.st.src.pos(p.st.start),
	}}
	for _, ev := range triggerEvents {
		if n.GetEvents()&ev.bit != 0 {
			t.Events = append(t.Events, ev.name)
		}
	}
	if !n.GetRow() && !(len(t.Events) == 1 && t.Events[0] == "truncate") {
		return failed("trigger %s skipped: it does not see rows (FOR EACH STATEMENT)", t.Name)
	}
	if m := whenCondition.FindStringSubmatch(p.st.text()); n.GetWhenClause() != nil && m != nil {
		t.When = strings.TrimSpace(m[1])
	}
	e.addTrigger(t)
	return applied()
}

func (p *pg) domain(n *ast.CreateDomainStmt) outcome {
	col := &Column{}
	p.setType(col, n.GetTypeName())
	for _, c := range n.GetConstraints() {
		if f := columnConstraints[c.GetConstraint().GetContype()]; f != nil {
			f(col, c.GetConstraint())
		}
	}
	p.domains = append(p.domains, domain{names(n.GetDomainname()), col.Base, col.NotNull, col.HasDefault, col.enum})
	return applied()
}

// alterEnum adds a label, or renames one.
func (p *pg) alterEnum(n *ast.AlterEnumStmt) outcome {
	d := p.catalog.domain(names(n.GetTypeName()))
	if d == nil || d.enum == nil {
		return ignored(kindOf(p.st.words))
	}
	e := d.enum
	if old := slices.Index(e.labels, n.GetOldVal()); n.GetOldVal() != "" {
		if old < 0 {
			return failed("ALTER TYPE %s: it has no value %q", e.name, n.GetOldVal())
		}
		e.labels[old] = n.GetNewVal()
		return applied()
	}
	if slices.Contains(e.labels, n.GetNewVal()) {
		return applied()
	}
	at := len(e.labels)
	if near := slices.Index(e.labels, n.GetNewValNeighbor()); near >= 0 {
		at = near
		if n.GetNewValIsAfter() {
			at++
		}
	}
	e.labels = slices.Insert(e.labels, at, n.GetNewVal())
	return applied()
}
