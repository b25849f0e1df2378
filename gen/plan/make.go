package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/schema"
	"github.com/fencelint/fence/internal/sqlstmt"
	"github.com/fencelint/fence/internal/suggest"
)

// Make plans the writers of every protected table of a schema. Errors are a
// [config.Errors]: each says where and what to write instead. There is a plan only if
// there is none.
func Make(c *config.Config, s *schema.Schema) (*Package, error) {
	m := &maker{config: c, schema: s, pkg: &Package{Dialect: c.Dialect, Driver: "database/sql"}}
	if g := c.Generate; g != nil {
		m.pkg.Name, m.pkg.Tests, m.pkg.RuntimeSchema = g.Package, g.Tests, g.Schema == "runtime"
		m.pkg.Driver = cmp.Or(g.Driver, m.pkg.Driver)
	}
	d, ok := dialects[c.Dialect]
	if !ok {
		m.fail(m.top(), "fence gen needs a dialect", "write dialect: postgres, mariadb, mysql or sqlite")
		return nil, m.errs
	}
	m.dialect = d
	unread := false
	for _, n := range s.Notes {
		if n.Problem {
			unread = true
			m.fail(n.Pos, n.Text, "a table may be other than it seems: mend the statement, or leave its file out of schema:")
		}
	}
	for _, e := range c.Tables {
		if !unread { // else its CREATE TABLE may be what could not be read
			m.known(e)
		}
	}
	for _, t := range s.Tables {
		if !m.isGuards(t) {
			m.table(t)
		}
	}
	m.unusedOverrides()
	if len(m.pkg.Tables) == 0 && len(m.errs) == 0 {
		m.fail(m.top(), "no table of the schema is protected, so there is nothing to generate",
			"name one under tables: with fence, guard or protect, or write -- fence:protect above its CREATE TABLE")
	}
	m.names()
	m.enums()
	if len(m.errs) > 0 {
		slices.SortStableFunc(m.errs, func(a, b *config.InputError) int {
			return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
		})
		return nil, m.errs
	}
	return m.pkg, nil
}

type maker struct {
	config  *config.Config
	schema  *schema.Schema
	dialect dialect
	pkg     *Package
	errs    config.Errors
	used    map[int]bool // overrides, by index
	enumOf  map[string]*Enum
	taken   map[string]string // what has a Go name
}

func (m *maker) fail(pos config.Pos, msg, hint string) {
	m.errs = append(m.errs, &config.InputError{Pos: pos, Msg: msg, Hint: hint})
}

// top is the place of what fence.yaml does not say.
func (m *maker) top() config.Pos { return config.Pos{File: m.config.File, Line: 1, Column: 1} }

// known refuses an entry under tables that names no table.
func (m *maker) known(e config.Table) {
	if slices.ContainsFunc(m.schema.Tables, func(t *schema.Table) bool { return t.Named(e.Name.Text) }) {
		return
	}
	var names []string
	for _, t := range m.schema.Tables {
		names = append(names, t.Name)
	}
	m.fail(e.Name.Pos, fmt.Sprintf("tables: the schema has no table %s", e.Name.Text),
		suggest.Hint(e.Name.Text, names, "look for its CREATE TABLE; a view has no writer, the table below it has"))
}

func (m *maker) isGuards(t *schema.Table) bool {
	return strings.EqualFold(t.Name, config.DefaultGuards) ||
		slices.ContainsFunc(m.config.Guards, func(g config.Guard) bool { return t.Named(g.Table.Text) })
}

// protection is what is said about a table, wherever it is said.
type protection struct {
	fence    string
	rule     config.Rule
	guard    string
	resource string
	protect  bool
	enforced bool
}

func (m *maker) protection(t *schema.Table) protection {
	var p protection
	for _, e := range m.config.Tables {
		if t.Named(e.Name.Text) {
			p = protection{e.Fence, e.Rule, e.Guard, e.Resource, e.Protect, e.Enforced == "trigger"}
		}
	}
	for _, d := range t.Directives {
		if d.Verb == "protect" {
			p.protect = true
			p.guard, p.resource = cmp.Or(p.guard, d.Options["guard"]), cmp.Or(p.resource, d.Options["resource"])
		}
	}
	if p.fence != "" || p.guard != "" {
		return p
	}
	for _, c := range t.Columns {
		for _, d := range c.Directives {
			if d.Verb == "token" {
				p.fence, p.rule = c.Name, config.Rule(d.Options["rule"])
			}
		}
	}
	for _, f := range m.config.FenceColumns {
		if c := t.Column(f.Name.Text); c != nil && p.fence == "" {
			p.fence, p.rule = c.Name, f.Rule
		}
	}
	for _, name := range config.UsualFences() {
		if c := t.Column(name); c != nil && p.fence == "" {
			p.fence = c.Name
		}
	}
	return p
}

// table plans one table, if it is protected.
func (m *maker) table(s *schema.Table) {
	p := m.protection(s)
	if p.fence != "" && p.guard != "" && p.guard != config.Transaction {
		m.fail(s.Pos, fmt.Sprintf("table %s has both a fence, %s, and a guard, %s: a writer compares the token in one place", s.Name, p.fence, p.guard), "leave one of them out of fence.yaml")
		return
	}
	if p.fence == "" && !p.protect && p.guard == "" || p.guard == config.Transaction {
		return
	}
	t := &Table{Schema: s.Schema, Name: s.Name, GoName: goName(s.Name), Pos: s.Pos, Kind: Scope}
	before := len(m.errs)
	switch {
	case t.GoName == "":
		m.fail(s.Pos, fmt.Sprintf("table %s has no letter to name its writer by", s.Name), "rename it, or leave it out of tables:")
	case len(s.PrimaryKey) == 0:
		m.fail(s.Pos, fmt.Sprintf("table %s has no primary key, so a writer cannot say which row it means", s.Name),
			"give it a PRIMARY KEY, or leave it out of tables:")
	}
	if strings.ContainsRune(s.Name, mark) || slices.ContainsFunc(s.Columns, func(c *schema.Column) bool { return strings.ContainsRune(c.Name, mark) }) {
		m.fail(s.Pos, fmt.Sprintf("the name or a column of table %q contains a NUL", s.Name), "rename it")
	}
	if m.pkg.RuntimeSchema && (strings.Contains(s.Name, SchemaMark) || strings.Contains(p.resource, SchemaMark) ||
		slices.ContainsFunc(s.Columns, func(c *schema.Column) bool { return strings.Contains(c.Name, SchemaMark) })) {
		m.fail(s.Pos, fmt.Sprintf("the name, a column or the resource of table %s contains %s, which stands for the schema", s.Name, SchemaMark), "rename it")
	}
	if p.fence != "" && p.guard == "" {
		t.Kind, t.Rule = Row, cmp.Or(p.rule, config.Monotonic)
		t.Enforced = p.enforced && t.Rule == config.Monotonic // what a trigger of ours can compare
		m.fence(s, t, p.fence)
	} else if m.guards(s, cmp.Or(p.guard, config.DefaultGuards)) {
		m.pkg.Guards = cmp.Or(p.guard, config.DefaultGuards)
	}
	m.columns(s, t)
	if p.resource != "" {
		m.resource(s, t, p.resource)
	}
	if len(m.errs) > before {
		return
	}
	t.statements(m.dialect, m.pkg.RuntimeSchema)
	m.pkg.Tables = append(m.pkg.Tables, t)
}

// guards refuses a second table of guard rows, and one whose columns are others than
// fencedb's.
func (m *maker) guards(s *schema.Table, name string) bool {
	if had := m.pkg.Guards; had != "" && had != name {
		m.fail(s.Pos, fmt.Sprintf("table %s is guarded by %s, others by %s", s.Name, name, had), "one package has one table of guards: name the same")
		return false
	}
	for _, g := range m.config.Guards {
		if !strings.EqualFold(g.Table.Text, name) {
			continue
		}
		for _, c := range []struct{ got, want string }{{g.Resource, "resource"}, {g.Token, "token"}, {g.GrantCol, "grant_id"}} {
			if c.got != "" && c.got != c.want {
				m.fail(g.Table.Pos, fmt.Sprintf("guards: %s has a column %s where generated writers have %s", name, c.got, c.want),
					"generated writers need a table of guards of their own, such as "+config.DefaultGuards)
				return false
			}
		}
	}
	return true
}

// fence sets the fence column of a row guard.
func (m *maker) fence(s *schema.Table, t *Table, name string) {
	c := s.Column(name)
	if c == nil {
		var names []string
		for _, c := range s.Columns {
			names = append(names, c.Name)
		}
		m.fail(s.Pos, fmt.Sprintf("table %s has no column %s to compare a token with", s.Name, name),
			suggest.Hint(name, names, "add it, or name a directory under generate: migrations for a migration that does"))
		return
	}
	t.Fence = m.column(s, c)
	inDB, known := goType(m.pkg.Dialect, c)
	t.Ordered = known && integer(inDB)
	switch {
	case t.Fence == nil: // said already
	case c.Generated:
		m.fail(c.Pos, fmt.Sprintf("the fence %s.%s is always made by the database", s.Name, c.Name), "compare on a column that the writer can set")
	case slices.ContainsFunc(s.PrimaryKey, func(k string) bool { return strings.EqualFold(k, c.Name) }):
		m.fail(c.Pos, fmt.Sprintf("the fence %s.%s is part of the primary key", s.Name, c.Name), "compare on a column of its own")
	case t.Rule == config.Monotonic && !orders(m.pkg.Dialect, c):
		m.fail(c.Pos, fmt.Sprintf("the fence %s.%s is %s: a token needs 64 bits", s.Name, c.Name, c.Type), "make it "+int64Type[m.pkg.Dialect]+" NOT NULL DEFAULT 0")
	case t.Rule == config.Monotonic && !c.NotNull:
		m.fail(c.Pos, fmt.Sprintf("the fence %s.%s may be NULL, which no token compares with: such a row could never be written again", s.Name, c.Name),
			"make it "+int64Type[m.pkg.Dialect]+" NOT NULL DEFAULT 0")
	case t.Rule == config.Equal && !t.Ordered && (inDB != goString || strings.EqualFold(c.Base, "uuid") || c.Base == "enum"):
		m.fail(c.Pos, fmt.Sprintf("the fence %s.%s is %s: neither a number nor a text that a grant id equals", s.Name, c.Name, c.Type), "compare on a column of another type")
	}
}

// int64Type is what each dialect calls a number of 64 bits.
var int64Type = map[sqlstmt.Dialect]string{
	sqlstmt.Postgres: "bigint", sqlstmt.MariaDB: "BIGINT", sqlstmt.MySQL: "BIGINT", sqlstmt.SQLite: "INTEGER",
}

// columns sets the columns and the key.
func (m *maker) columns(s *schema.Table, t *Table) {
	byName := map[string]*Column{}
	var goNames []string
	for _, c := range s.Columns {
		if t.Fence != nil && strings.EqualFold(c.Name, t.Fence.Name) {
			continue
		}
		col := m.column(s, c)
		if col == nil {
			continue
		}
		if i := slices.Index(goNames, col.GoName); i >= 0 {
			m.fail(c.Pos, fmt.Sprintf("the columns of %s have one Go name, %s, twice", s.Name, col.GoName), "rename one of them")
		}
		goNames = append(goNames, col.GoName)
		byName[strings.ToLower(c.Name)] = col
		if !col.Made {
			t.Columns = append(t.Columns, col)
		}
	}
	for _, k := range s.PrimaryKey {
		col := byName[strings.ToLower(k)]
		if col == nil {
			continue // the fence, or a column that was refused: said already
		}
		col.Key, col.Fixed, col.Null = true, true, false
		t.Key = append(t.Key, col)
	}
	// A key that the database makes can only come back by RETURNING, or as one number.
	if m.dialect.returning {
		return
	}
	for _, k := range t.Key {
		if k.Optional && (len(t.Key) > 1 || !integer(k.Type)) {
			k.Optional = false
		}
	}
}

func integer(t Type) bool {
	return t.Import == "" && (strings.HasPrefix(t.Name, "int") || strings.HasPrefix(t.Name, "uint"))
}

// column is a column in Go; nil if it has no type, which is said.
func (m *maker) column(s *schema.Table, c *schema.Column) *Column {
	col := &Column{Name: c.Name, GoName: goName(c.Name), DB: c.Type, Pos: c.Pos, Null: !c.NotNull, Optional: c.HasDefault, Made: c.Generated}
	if col.GoName == "" {
		m.fail(c.Pos, fmt.Sprintf("column %s of %s has no letter to name a field by", c.Name, s.Name), "rename it")
		return nil
	}
	var given, ok bool
	if col.Type, given = m.override(s, c); !given {
		if col.Type, ok = goType(m.pkg.Dialect, c); ok && c.Labels != nil {
			col.Type = m.enum(s, c, col.Type)
		}
	}
	col.Type.Bind = bind(m.pkg.Dialect, c, col.Type)
	switch {
	case given && !col.Type.bindable():
		m.fail(c.Pos, fmt.Sprintf("column %s.%s has type %s, into which no driver puts a %s", s.Name, c.Name, c.Type, col.Type.Name),
			"write generate: overrides: with string, []byte, or a named type that has the methods of sql.Scanner and driver.Valuer")
		return nil
	case !given && !ok:
		m.fail(c.Pos, fmt.Sprintf("column %s.%s has type %s, for which fence knows no Go type", s.Name, c.Name, c.Type),
			fmt.Sprintf("write generate: overrides: [{column: %s.%s, go: string}] or another type", s.Name, c.Name))
		return nil
	}
	return col
}

// override is the Go type that fence.yaml gives a column, or its type. A column comes
// before a type.
func (m *maker) override(s *schema.Table, c *schema.Column) (Type, bool) {
	if m.config.Generate == nil {
		return Type{}, false
	}
	byType := -1
	for i, o := range m.config.Generate.Overrides {
		if at := strings.LastIndexByte(o.Column, '.'); at >= 0 && s.Named(o.Column[:at]) && strings.EqualFold(o.Column[at+1:], c.Name) {
			m.use(i)
			return parseType(o.Go), true
		}
		if o.Type != "" && (isOf(o.Type, c) || ofElements(o.Type, c)) {
			m.use(i)
			byType = i
		}
	}
	if byType < 0 {
		return Type{}, false
	}
	o := m.config.Generate.Overrides[byType]
	t := parseType(o.Go)
	if ofElements(o.Type, c) && !isOf(o.Type, c) {
		t = t.slice()
	}
	return t, true
}

// isOf tells whether c is of a type, as it is written or as what it comes down to.
func isOf(name string, c *schema.Column) bool {
	_, array := elements(c.Base)
	return strings.EqualFold(name, c.Type) || strings.EqualFold(name, c.Base) || !array && c.Enum != "" && strings.EqualFold(name, c.Enum)
}

// ofElements tells whether the elements of c, an array, are of a type.
func ofElements(name string, c *schema.Column) bool {
	written, array := elements(c.Type)
	base, arrayBase := elements(c.Base)
	return array && strings.EqualFold(name, written) || arrayBase && strings.EqualFold(name, base) || arrayBase && c.Enum != "" && strings.EqualFold(name, c.Enum)
}

func (m *maker) use(override int) {
	if m.used == nil {
		m.used = map[int]bool{}
	}
	m.used[override] = true
}

// unusedOverrides refuses overrides that nothing has: most often they are misspelt.
func (m *maker) unusedOverrides() {
	if m.config.Generate == nil {
		return
	}
	for i, o := range m.config.Generate.Overrides {
		if !m.used[i] {
			m.fail(o.Pos, fmt.Sprintf("generate: overrides: no column of a protected table is %s", cmp.Or(o.Column, "of type "+o.Type)), "remove it, or look for a misspelling")
		}
	}
}

// resource sets the template of a table's resource.
func (m *maker) resource(s *schema.Table, t *Table, text string) {
	tmpl, err := parseTemplate(text, func(name string) (*Column, error) {
		for _, c := range slices.Concat(t.Columns, t.Key) {
			if !strings.EqualFold(c.Name, name) {
				continue
			}
			switch {
			case c.Made || c.Optional && c.Key:
				return nil, fmt.Errorf("it names column %s, which the database makes: nobody knows the resource before the row is there", c.Name)
			case c.Null:
				return nil, fmt.Errorf("it names column %s, which may be NULL", c.Name)
			case m.loose(s, c):
				return nil, fmt.Errorf("it names column %s, whose type %s has more than one text for the same value", c.Name, s.Column(c.Name).Type)
			case !c.Type.text() && !integer(c.Type):
				return nil, fmt.Errorf("it names column %s, whose type %s has more than one text", c.Name, c.Type.Name)
			}
			c.Optional, c.Fixed = false, true
			return c, nil
		}
		var names []string
		for _, c := range t.Columns {
			names = append(names, c.Name)
		}
		return nil, fmt.Errorf("it names column %s, which the table has not (%s)", name, suggest.Hint(name, names, "it has "+strings.Join(names, ", ")))
	})
	if err != nil {
		m.fail(s.Pos, fmt.Sprintf("the resource %q of table %s: %v", text, s.Name, err), "name columns that are NOT NULL, numbers or texts, and given by the program")
		return
	}
	t.Resource = tmpl
}

// loose tells whether two texts can be the same value of a column, by blanks at their end
// or by case: the same row would be of two resources.
func (m *maker) loose(s *schema.Table, c *Column) bool {
	switch m.pkg.Dialect {
	case sqlstmt.SQLite: // by its type's affinity, 007 may be stored as 7 (sqlite.org/datatype3.html, 3)
		typ := strings.ToLower(c.DB)
		return c.Type == goString && !strings.Contains(typ, "char") && !strings.Contains(typ, "clob") && !strings.Contains(typ, "text")
	case sqlstmt.MariaDB, sqlstmt.MySQL:
		return false // its texts are compared byte by byte, as they are stored
	}
	switch unqualified(s.Column(c.Name).Base) {
	case "citext", "char", "character", "bpchar", "nchar", "national char", "national character":
		return true
	}
	return false
}

// names refuses two tables that would have one Go name.
func (m *maker) names() {
	taken := map[string]string{}
	m.taken = taken
tables:
	for _, t := range m.pkg.Tables {
		for _, i := range identifiers {
			if i.kind != "" && i.kind != t.Kind {
				continue
			}
			name := i.prefix + t.GoName + i.suffix
			switch had, ok := taken[name]; {
			case own[name]:
				m.fail(t.Pos, fmt.Sprintf("table %s would be %s in Go, which every generated package has", t.Name, name), "rename the table")
			case ok && had != t.Name:
				m.fail(t.Pos, fmt.Sprintf("tables %s and %s would both be %s in Go", had, t.Name, name), "rename one of them, or generate them into two packages")
				continue tables
			case ok:
				m.fail(t.Pos, fmt.Sprintf("two tables %s, of two schemas, would both be %s in Go", t.Name, name), "generate them into two packages")
				continue tables
			}
			taken[name] = t.Name
		}
	}
}
