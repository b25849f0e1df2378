// Package migrate answers one question: which migration does a schema still need for the
// writers of a plan to work, in the format of the migration tool found?
//
// What a dialect needs stands in dialect.go, what a migration tool reads in format.go,
// how files are called in name.go. Whoever generates writers asks in this order, with s as
// the schema is and the directory of the migrations among what s was loaded from:
//
//	missing := migrate.Missing(c, s)
//	p, err := plan.Make(c, migrate.With(s, missing))
//	files, err := migrate.Plan(p, s, format, existing)
package migrate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fencelint/fence/gen/plan"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/schema"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// A File is one to be written into the directory of the migrations.
type File struct {
	Name string
	Data []byte
}

// Plan makes the migration that s needs for the writers of p: the table of guard rows, the
// fence columns that [Missing] finds, the triggers of tables with enforced: trigger. There
// are no files if nothing is missing, as when s was loaded after the migration has been
// written. existing are the names in the directory, which decide how the files are called.
//
// Errors about what the user wrote are a [config.Errors].
func Plan(p *plan.Package, s *schema.Schema, format Format, existing []string) ([]File, error) {
	l, ok := layouts[format]
	if !ok {
		return nil, fmt.Errorf("migrations of format %q: want %s", format, strings.Join(formats(), ", "))
	}
	d, ok := dialects[p.Dialect]
	if !ok {
		return nil, fmt.Errorf("migrations of dialect %v: want postgres, mariadb, mysql or sqlite", p.Dialect)
	}
	m := &maker{plan: p, schema: s, dialect: d}
	m.guards()
	for _, t := range p.Tables {
		m.table(t)
	}
	if len(m.errs) > 0 {
		return nil, m.errs
	}
	if len(m.changes) == 0 {
		return nil, nil
	}
	return l.files(stem(format, existing), p.Dialect, m.migration()), nil
}

// A change is one thing that is missing.
type change struct {
	up, down []step
	trigger  bool // it makes a trigger
	// waits: it needs a lock on a table that is in use.
	waits bool
}

// A step is one statement, without its semicolon.
type step struct {
	comment string
	text    string
	body    bool // it has semicolons of its own
}

type maker struct {
	plan    *plan.Package
	schema  *schema.Schema
	dialect dialect
	changes []change
	errs    config.Errors
}

func (m *maker) fail(pos config.Pos, msg, hint string) {
	m.errs = append(m.errs, &config.InputError{Pos: pos, Msg: msg, Hint: hint})
}

// guards adds the table of guard rows, and refuses one that is there and has other columns.
func (m *maker) guards() {
	name := m.plan.Guards
	if name == "" {
		return
	}
	for _, t := range m.schema.Tables {
		if !t.Named(name) {
			continue
		}
		for _, column := range guardColumns {
			if t.Column(column) == nil {
				m.fail(t.Pos, fmt.Sprintf("table %s holds the guard rows of generated writers and has no column %s", t.Name, column),
					"let another table hold them, such as "+config.DefaultGuards+", which a migration of fence gen makes")
			}
		}
		return
	}
	m.add(change{up: m.dialect.guards, down: []step{{comment: guardsLost, text: "DROP TABLE @table"}}}, m.names(split(name)))
}

// guardColumns are those of fencedb's table of guard rows.
var guardColumns = []string{"resource", "token", "grant_id"}

const guardsLost = `-- The guards forget every token: writers of a former owner that are still under way are no
-- longer rejected. Stop them first.`

// split cuts the name of a table in fence.yaml, which may have a schema.
func split(name string) (schema, table string) {
	if schema, table, ok := strings.Cut(name, "."); ok {
		return schema, table
	}
	return "", name
}

// table adds what the writer of one table needs.
func (m *maker) table(t *plan.Table) {
	if t.Kind != plan.Row {
		return
	}
	i := slices.IndexFunc(m.schema.Tables, func(s *schema.Table) bool { return s.Name == t.Name && s.Schema == t.Schema })
	if i < 0 {
		m.fail(t.Pos, fmt.Sprintf("table %s is not in the schema that the migration is for", t.Name), "")
		return
	}
	if m.broken(t) {
		return
	}
	now, names := m.schema.Tables[i], m.names(t.Schema, t.Name).of(t)
	if now.Column(t.Fence.Name) == nil {
		m.add(change{up: m.dialect.addFence, down: m.dialect.dropFence, waits: true}, names)
	}
	if !t.Enforced || t.Rule != config.Monotonic {
		return
	}
	for _, tr := range m.dialect.triggers {
		own := objectName(t.Name, tr.suffix)
		if slices.ContainsFunc(now.Triggers, func(t schema.Trigger) bool { return strings.EqualFold(t.Name, own) }) {
			continue
		}
		m.add(change{up: tr.up, down: tr.down, trigger: true, waits: true}, names.trigger(own))
	}
}

// broken refuses names with a line break: marks of a migration tool, and comments, begin
// and end with the line.
func (m *maker) broken(t *plan.Table) bool {
	all := []string{t.Schema, t.Name, t.Fence.Name}
	for _, k := range t.Key {
		all = append(all, k.Name)
	}
	for _, name := range all {
		if strings.ContainsAny(name, "\n\r") {
			m.fail(t.Pos, fmt.Sprintf("the name %q has a line break, which no migration can have", name), "rename it")
			return true
		}
	}
	return false
}

// add fills in the names of a change.
func (m *maker) add(c change, n names) {
	fill := n.replacer()
	filled := func(steps []step) []step {
		out := make([]step, len(steps))
		for i, s := range steps {
			out[i] = step{fill.Replace(s.comment), fill.Replace(s.text), s.body}
		}
		return out
	}
	c.up, c.down = filled(c.up), filled(c.down)
	m.changes = append(m.changes, c)
}

// names are what the texts of a dialect have placeholders for.
type names struct {
	dialect       sqlstmt.Dialect
	schema, table string
	fence         string
	key           []*plan.Column
	object        string // of the trigger, and of its function
}

// names are those of a table. A schema that is chosen at run time is not in a migration:
// it is for whoever runs it to choose.
func (m *maker) names(schema, table string) names {
	if m.plan.RuntimeSchema {
		schema = ""
	}
	return names{dialect: m.plan.Dialect, schema: schema, table: table}
}

func (n names) of(t *plan.Table) names {
	n.fence, n.key = t.Fence.Name, t.Key
	return n
}

func (n names) trigger(object string) names {
	n.object = object
	return n
}

func (n names) quoted(name string) string { return plan.Quote(n.dialect, name) }

// qualified is a name in the table's schema.
func (n names) qualified(name string) string {
	if n.schema == "" {
		return n.quoted(name)
	}
	return n.quoted(n.schema) + "." + n.quoted(name)
}

// replacer puts names in: @table and @object with their schema, @bare and @name without,
// @same for "the row of NEW's key", @check for a constraint, @quote for what comes around a body in
// PostgreSQL, @stale and @unfenced for what errors say.
func (n names) replacer() *strings.Replacer {
	same := make([]string, len(n.key))
	for i, k := range n.key {
		same[i] = n.quoted(k.Name) + " = NEW." + n.quoted(k.Name)
	}
	return strings.NewReplacer(
		"@table", n.qualified(n.table), "@bare", n.quoted(n.table), "@fence", n.quoted(n.fence),
		"@object", n.qualified(n.object), "@name", n.quoted(n.object), "@same", strings.Join(same, " AND "),
		"@quote", n.dollarQuote(), "@check", n.quoted(objectName(n.table, "ck")),
		"@stale", plan.Literal(n.dialect, StalePrefix+n.table), "@unfenced", plan.Literal(n.dialect, UnfencedPrefix+n.table),
	)
}

// dollarQuote is one that none of the names contains.
func (n names) dollarQuote() string {
	quote, all := "$fence$", n.schema+"\x00"+n.table+"\x00"+n.fence
	for i := 2; strings.Contains(all, quote); i++ {
		quote = "$fence" + strconv.Itoa(i) + "$"
	}
	return quote
}

// migration is the steps up and down, with what comes around them.
func (m *maker) migration() migration {
	var out migration
	waits := false
	for _, c := range m.changes {
		out.up = append(out.up, c.up...)
		waits = waits || c.waits
		out.triggers = out.triggers || c.trigger
	}
	for _, c := range slices.Backward(m.changes) {
		out.down = append(out.down, c.down...)
	}
	if waits && m.dialect.lock != nil {
		out.up = slices.Concat(m.dialect.lock, out.up, m.dialect.unlock)
		out.down = slices.Concat(m.dialect.lock, out.down, m.dialect.unlock)
	}
	return out
}
