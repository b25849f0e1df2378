package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fencelint/fence/gen/plan"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/schema"
)

// The columns of a table of guard rows, as fencedb has them.
const (
	guardResource = "resource"
	guardToken    = "token"
	guardGrant    = "grant_id"
)

// nameOf is the name by which a table is looked for: one whose schema is chosen at run
// time is where the connection looks.
func nameOf(p *plan.Package, t *plan.Table) name {
	if p.RuntimeSchema {
		return name{table: t.Name}
	}
	return name{t.Schema, t.Name}
}

func guardsName(p *plan.Package) name {
	if s, table, ok := strings.Cut(p.Guards, "."); ok {
		return name{s, table}
	}
	return name{table: p.Guards}
}

// compare says what in the live database would make fencing fail.
func compare(p *plan.Package, s *schema.Schema, live *database) []Problem {
	c := &comparison{db: live}
	if live.lax != "" {
		c.add(Problem{Kind: SQLMode, Message: live.lax + ": a value that does not fit is stored as another one, without an error",
			Fix: "set STRICT_TRANS_TABLES in sql_mode, for the server or in the DSN of every program"})
	}
	planned := map[*schema.Table]*plan.Table{}
	for _, t := range p.Tables {
		planned[declared(s, t.Schema, t.Name)] = t
	}
	guards := p.Guards
	for _, t := range s.Tables {
		switch {
		case guards != "" && isGuards(p, t):
			guards = ""
			c.guards(p, t)
		case planned[t] != nil:
			c.table(p, t, planned[t])
		}
	}
	if guards != "" {
		c.guards(p, nil)
	}
	return c.problems
}

// declared is a table of the schema by its exact name.
func declared(s *schema.Schema, in, called string) *schema.Table {
	i := slices.IndexFunc(s.Tables, func(t *schema.Table) bool { return t.Schema == in && t.Name == called })
	if i < 0 {
		return nil
	}
	return s.Tables[i]
}

func isGuards(p *plan.Package, t *schema.Table) bool {
	g := guardsName(p)
	return strings.EqualFold(g.table, t.Name) && (g.schema == "" || t.Schema == "" || strings.EqualFold(g.schema, t.Schema))
}

// A comparison collects problems.
type comparison struct {
	db       *database
	problems []Problem
}

func (c *comparison) add(p Problem) { c.problems = append(c.problems, p) }

func (c *comparison) same(a, b string) bool {
	return a == b || c.db.foldColumns && strings.EqualFold(a, b)
}

// A subject is one table that is compared: as it is declared, and as it is.
type subject struct {
	*comparison
	live  *table
	shown string        // its name in messages
	at    config.Pos    // where it is declared
	ddl   *schema.Table // nil for guard rows that the schema does not have
}

// report adds a problem of the table.
func (s *subject) report(k Kind, fix, format string, args ...any) {
	s.add(Problem{Kind: k, Pos: s.at, Table: s.shown, Message: fmt.Sprintf(format, args...), Fix: fix})
}

// reportColumn adds a problem of a column; the name of table and column come first.
func (s *subject) reportColumn(k Kind, column, fix, format string, args ...any) {
	at := s.at
	if s.ddl != nil {
		if c := s.ddl.Column(column); c != nil {
			at = c.Pos
		}
	}
	s.add(Problem{Kind: k, Pos: at, Table: s.shown, Column: column, Fix: fix,
		Message: fmt.Sprintf("column %s.%s ", s.shown, column) + fmt.Sprintf(format, args...)})
}

// present reports a table that is not there, or is none.
func (s *subject) present(n name, fix string) bool {
	switch {
	case s.live == nil && n.schema == "" && s.db.where == "":
		s.report(MissingTable, "name a database in the DSN", "table %s is not found: the connection is in no database", s.shown)
	case s.live == nil && n.schema == "":
		s.report(MissingTable, fix, "table %s is not in the database (looked in %s)", s.shown, s.db.where)
	case s.live == nil:
		s.report(MissingTable, fix, "table %s is not in the database", s.shown)
	case s.live.view:
		s.report(View, "protect the table below it, and name that one in the schema", "%s is a view in the database: the rows below it are written without a compare", s.shown)
	default:
		return true
	}
	return false
}

// table compares one protected table.
func (c *comparison) table(p *plan.Package, ddl *schema.Table, t *plan.Table) {
	n := nameOf(p, t)
	s := &subject{c, c.db.tables[n], n.String(), t.Pos, ddl}
	if !s.present(n, "apply the migration that makes it, or correct the schema") {
		return
	}
	s.primaryKey(t)
	if t.Kind == plan.Scope {
		s.engine("a write stays when its transaction is rolled back")
	}
	if t.Enforced && t.Rule == config.Monotonic { // no trigger compares by equality
		s.triggers(t.Fence.Name)
	}
	if t.Kind == plan.Row {
		s.aboveCounter("row", t.Fence.Name)
	}
	s.columns(t)
}

// primaryKey compares the columns of the key, in any order.
func (s *subject) primaryKey(t *plan.Table) {
	var want, got []string
	for _, k := range t.Key {
		want = append(want, k.Name)
	}
	for _, k := range s.live.keys {
		if k.primary {
			got = k.columns
		}
	}
	fix := "make it that key, or correct the schema and run fence gen"
	switch {
	case got == nil:
		s.report(PrimaryKey, fix, "table %s has no primary key in the database, and (%s) in the schema: a writer could change more than one row", s.shown, strings.Join(want, ", "))
	case !s.sameSet(want, got):
		s.report(PrimaryKey, fix, "table %s has the primary key (%s) in the database, and (%s) in the schema: a writer would mean other rows", s.shown, strings.Join(got, ", "), strings.Join(want, ", "))
	}
}

func (s *subject) sameSet(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x string) bool { return !s.has(b, x) })
}

func (s *subject) has(columns []string, column string) bool {
	return slices.ContainsFunc(columns, func(c string) bool { return s.same(c, column) })
}

func (s *subject) engine(why string) {
	if s.live.engine != "" {
		s.report(Engine, "ALTER TABLE "+s.shown+" ENGINE = InnoDB", "table %s has the engine %s: %s", s.shown, s.live.engine, why)
	}
}

// triggers reports whether the database compares, as fence.yaml says it does: by the
// triggers that the schema has for it, and at least by one before every update.
func (s *subject) triggers(fence string) {
	before := len(s.problems)
	for _, t := range s.ddl.Triggers {
		if strings.HasPrefix(t.Name, ownPrefix) || t.Before && mentions(t.Body+t.When, fence) {
			s.declaredTrigger(t)
		}
	}
	if len(s.problems) > before {
		return // said already
	}
	off := -1
	for i, t := range s.live.triggers {
		switch {
		case !t.compares(fence):
		case t.off == "":
			return
		default:
			off = i
		}
	}
	if off >= 0 {
		s.disabled(s.live.triggers[off], s.at)
		return
	}
	s.report(MissingTrigger, s.triggerFix(), "table %s has no trigger that compares %s before every update, and fence.yaml says enforced: trigger", s.shown, fence)
}

// ownPrefix is what the names of triggers begin with that fence gen makes, not all of
// which look at the fence: one refuses TRUNCATE.
const ownPrefix = "fence_"

// compares tells whether t looks at the fence before every update.
func (t trigger) compares(fence string) bool {
	return t.before && t.update && !t.some && mentions(t.body, fence)
}

// declaredTrigger reports a trigger of the schema that does not run in the database.
func (s *subject) declaredTrigger(t schema.Trigger) {
	i := slices.IndexFunc(s.live.triggers, func(l trigger) bool { return s.same(l.name, t.Name) })
	switch {
	case i < 0:
		s.add(Problem{Kind: MissingTrigger, Pos: t.Pos, Table: s.shown, Fix: s.triggerFix(),
			Message: fmt.Sprintf("trigger %s of table %s is not in the database, and fence.yaml says enforced: trigger", t.Name, s.shown)})
	case s.live.triggers[i].off != "":
		s.disabled(s.live.triggers[i], t.Pos)
	}
}

// disabled reports a trigger that is there and does not run.
func (s *subject) disabled(t trigger, at config.Pos) {
	s.add(Problem{Kind: DisabledTrigger, Pos: at, Table: s.shown, Fix: "ALTER TABLE " + s.shown + " ENABLE TRIGGER " + t.name,
		Message: fmt.Sprintf("trigger %s of table %s does not run: %s", t.name, s.shown, t.off)})
}

func (s *subject) triggerFix() string {
	fix := "apply the migration of fence gen that makes it, or take enforced: trigger out of fence.yaml"
	if s.db.hidden != "" {
		fix += "; " + s.db.hidden
	}
	return fix
}

func mentions(text, column string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(column))
}

// aboveCounter reports tokens that the coordinator has yet to grant again.
func (s *subject) aboveCounter(what, column string) {
	a := s.live.above
	if a.rows == 0 {
		return
	}
	what = fmt.Sprintf("%d %s", a.rows, what)
	if a.rows > 1 {
		what += "s"
	}
	s.reportColumn(AboveCounter, column, "set the counter to "+a.largest+" or more before the coordinator grants again",
		"has tokens above the coordinator's counter in %s, the largest %s: every grant up to that one would be rejected", what, a.largest)
}

// columns compares the columns that writers give or leave out, and then those that the
// schema does not know.
func (s *subject) columns(t *plan.Table) {
	for _, d := range s.ddl.Columns {
		c := s.planned(t, d.Name) // nil if the database makes it, so that no writer names it
		l := s.live.column(d.Name, s.db.foldColumns)
		switch {
		case l == nil && c == nil:
		case l == nil:
			s.reportColumn(MissingColumn, d.Name, "apply the migration that adds it, or correct the schema and run fence gen", "is not in the database, and the writer names it")
		case c == nil || c.Made:
			s.needsValue(l, "and not made by it as the schema says: every insert fails")
		case l.made:
			s.reportColumn(Generated, d.Name, "make it a plain column, or correct the schema and run fence gen", "is always made by the database, and the writer gives it")
		case c == t.Fence && t.Rule == config.Monotonic:
			s.token(l, c.Name)
		case c.Optional && c != t.Fence:
			s.needsValue(l, "without the default that the schema says: an insert that leaves it out fails")
		}
	}
	for i := range s.live.columns {
		if l := &s.live.columns[i]; s.ddl.Column(l.name) == nil {
			s.needsValue(l, "without a default, and not in the schema: every insert fails")
		}
	}
}

// planned is a column that a writer names.
func (s *subject) planned(t *plan.Table, column string) *plan.Column {
	for _, c := range slices.Concat(t.Columns, t.Key, []*plan.Column{t.Fence}) {
		if c != nil && s.same(c.Name, column) {
			return c
		}
	}
	return nil
}

// token reports a column that cannot hold and order every token.
func (s *subject) token(l *column, column string) {
	bigint := s.db.bigint
	if !l.bits64 {
		s.reportColumn(WrongType, column, "make it "+bigint+" NOT NULL", "is %s in the database: a token needs 64 bits", l.typ)
	}
	if !l.notNull {
		s.reportColumn(Nullable, column, "make it "+bigint+" NOT NULL", "may be NULL in the database, which no token compares with: such a row could never be written again")
	}
}

// needsValue reports a column that inserts leave out and the database does not fill.
func (s *subject) needsValue(l *column, why string) {
	if !l.notNull || l.filled || l.made || s.filledByTrigger(l.name) {
		return
	}
	s.reportColumn(NeedsValue, l.name, "give it a DEFAULT, or put it into the schema as it is and run fence gen", "is NOT NULL in the database %s", why)
}

func (s *subject) filledByTrigger(column string) bool {
	return slices.ContainsFunc(s.live.triggers, func(t trigger) bool {
		return t.insert && t.before && t.off == "" && mentions(t.body, column)
	})
}

// guards compares the table of guard rows; ddl is nil if the schema does not have it.
func (c *comparison) guards(p *plan.Package, ddl *schema.Table) {
	n := guardsName(p)
	s := &subject{c, c.db.tables[n], n.String(), guardsPos(p, ddl), ddl}
	if !s.present(n, "apply the migration of fence gen that makes it, or the statement that GuardTable.Schema of fencedb returns") {
		return
	}
	s.engine("a guard is neither locked nor kept with the write")
	if s.live.unlogged {
		s.report(Unlogged, "ALTER TABLE "+s.shown+" SET LOGGED", "table %s is UNLOGGED: after a crash it is empty, and no guard knows a token", s.shown)
	}
	s.guardKeys()
	s.aboveCounter("guard row", guardToken)
	if l := s.guardColumn(guardResource); l != nil && l.blind != "" {
		s.reportColumn(Collation, guardResource, "give it a collation that compares byte by byte", "has the collation %s, in which different resources can be equal: they would share a guard row", l.blind)
	}
	if l := s.guardColumn(guardToken); l != nil {
		s.token(l, guardToken)
	}
	s.guardColumn(guardGrant)
	for i := range s.live.columns {
		if l := &s.live.columns[i]; !s.has([]string{guardResource, guardToken, guardGrant}, l.name) {
			s.needsValue(l, "without a default, and fencedb does not know it: every raise fails")
		}
	}
}

// guardsPos is where the table of guard rows is declared, else the first table that it
// guards.
func guardsPos(p *plan.Package, ddl *schema.Table) config.Pos {
	if ddl != nil {
		return ddl.Pos
	}
	for _, t := range p.Tables {
		if t.Kind == plan.Scope {
			return t.Pos
		}
	}
	return config.Pos{}
}

// guardKeys reports what keeps a resource from having exactly one row.
func (s *subject) guardKeys() {
	unique := false
	for _, k := range s.live.keys {
		switch {
		case len(k.columns) == 1 && k.plain && s.same(k.columns[0], guardResource):
			unique = true
		case !s.has(k.columns, guardResource):
			s.report(OtherUnique, "drop it", "table %s has a unique key %s that is not of the resource: a raise could fail, or take the row of another resource", s.shown, cmp.Or(k.name, "("+strings.Join(k.columns, ", ")+")"))
		}
	}
	if !unique {
		s.report(NotUnique, "make resource the primary key", "table %s has no primary or unique key of resource alone: a resource could have two guard rows", s.shown)
	}
}

// guardColumn is a column that guards need, which may not be NULL.
func (s *subject) guardColumn(column string) *column {
	l := s.live.column(column, s.db.foldColumns)
	switch {
	case l == nil:
		s.reportColumn(MissingColumn, column, "make the table as GuardTable.Schema of fencedb does", "is not in the database, and guard rows need it")
	case !l.notNull && column != guardToken: // token says it
		s.reportColumn(Nullable, column, "make it NOT NULL", "may be NULL in the database: such a row guards nothing")
	}
	return l
}
