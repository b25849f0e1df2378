package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fencelint/fence/internal/config"
)

// name is a name of a table, function or type; schema is empty where the
// statement does not say it.
type name struct{ schema, name string }

func (n name) String() string {
	if n.schema == "" {
		return n.name
	}
	return n.schema + "." + n.name
}

// same reports whether two names can mean one object.
func (n name) same(m name) bool {
	return strings.EqualFold(n.name, m.name) && (n.schema == "" || m.schema == "" || strings.EqualFold(n.schema, m.schema))
}

// catalog is the schema while statements change it.
type catalog struct {
	tables    []*entry
	functions []function
	domains   []domain
}

// entry is a table and what the finished one does not show.
type entry struct {
	*Table
	keys     []key
	triggers []*trigger
	heirs    []heir
}

// key is a primary key, a unique constraint or a unique index.
type key struct {
	name    string
	columns []string
	primary bool
}

// heir is a table that has the columns of another one.
type heir struct {
	*entry
	partition bool // keys and triggers go down to it as well
}

// trigger is a trigger whose function may be written later.
type trigger struct {
	Trigger
	function name // zero where the body is part of the statement
	disabled bool
}

type function struct {
	name name
	body string
}

// domain is a named type: a domain, or an enum.
type domain struct {
	name       name
	base       string
	notNull    bool
	hasDefault bool
	enum       *enum // that it is, or comes down to
}

// enum is a type that lists its values. Columns share it, since later statements change it.
type enum struct {
	name   name
	labels []string
}

// domain is the named type a statement means, or nil: the last one of the very name, else
// of one that can mean it.
func (c *catalog) domain(n name) *domain {
	var found *domain
	for i, d := range slices.Backward(c.domains) {
		switch {
		case d.name == n:
			return &c.domains[i]
		case found == nil && d.name.same(n):
			found = &c.domains[i]
		}
	}
	return found
}

// find is the table a statement means, or nil.
func (c *catalog) find(n name) *entry {
	tables := make([]*Table, len(c.tables))
	for i, e := range c.tables {
		tables[i] = e.Table
	}
	t := pick(tables, n.schema, n.name)
	i := slices.Index(tables, t)
	if t == nil || i < 0 {
		return nil
	}
	return c.tables[i]
}

// newTable is a table for a statement to fill, not in the catalog yet; or, not
// fresh, the one that has its very name.
func (c *catalog) newTable(n name, st *statement) (e *entry, fresh bool) {
	for _, e := range c.tables {
		if e.Name == n.name && e.Schema == n.schema {
			return e, false
		}
	}
	return &entry{Table: &Table{Schema: n.schema, Name: n.name, Pos: st.src.pos(st.start)}}, true
}

// drop drops a table with its partitions.
func (c *catalog) drop(n name) {
	e := c.find(n)
	if e == nil {
		return
	}
	gone := e.partitions()
	c.tables = slices.DeleteFunc(c.tables, func(e *entry) bool { return slices.Contains(gone, e) })
	for _, left := range c.tables {
		for _, g := range gone {
			left.leave(g)
		}
	}
}

// leave makes gone no heir of e any more.
func (e *entry) leave(gone *entry) {
	e.heirs = slices.DeleteFunc(e.heirs, func(h heir) bool { return h.entry == gone })
}

// adopt makes child an heir: it gets the columns it does not have yet and, as a
// partition, keys, triggers and directives.
func (e *entry) adopt(child *entry, partition bool) {
	if e == child || slices.Contains(child.family(), e) {
		return
	}
	for i, col := range e.Columns {
		if own := child.Column(col.Name); own != nil {
			own.Directives = merged(own.Directives, col.Directives)
			continue
		}
		child.Columns = slices.Insert(child.Columns, min(i, len(child.Columns)), copied(col))
	}
	e.heirs = append(e.heirs, heir{child, partition})
	if !partition {
		return
	}
	child.Directives = merged(child.Directives, e.Directives)
	for _, k := range e.keys {
		k.name = ""
		child.keys = append(child.keys, k)
	}
	for _, t := range e.triggers {
		child.dropTrigger(t.Name)
		own := *t
		child.triggers = append(child.triggers, &own)
	}
}

func copied(c *Column) *Column {
	own := *c
	return &own
}

// merged is into with those of more that say something new.
func merged(into, more []config.Directive) []config.Directive {
	for _, d := range more {
		known := slices.ContainsFunc(into, func(k config.Directive) bool {
			return k.Verb == d.Verb && slices.Equal(k.Args, d.Args) && fmt.Sprint(k.Options) == fmt.Sprint(d.Options)
		})
		if !known {
			into = append(into, d)
		}
	}
	return into
}

// family is e and every table that has its columns.
func (e *entry) family() []*entry {
	all := []*entry{e}
	for i := 0; i < len(all); i++ {
		for _, h := range all[i].heirs {
			if !slices.Contains(all, h.entry) {
				all = append(all, h.entry)
			}
		}
	}
	return all
}

// partitions is e and every partition of it.
func (e *entry) partitions() []*entry {
	all := []*entry{e}
	for i := 0; i < len(all); i++ {
		for _, h := range all[i].heirs {
			if h.partition && !slices.Contains(all, h.entry) {
				all = append(all, h.entry)
			}
		}
	}
	return all
}

// addColumn adds a column to e and its heirs; false if e has it already.
func (e *entry) addColumn(col *Column) bool {
	if e.Column(col.Name) != nil {
		return false
	}
	for i, t := range e.family() {
		switch {
		case t.Column(col.Name) != nil:
		case i == 0:
			t.Columns = append(t.Columns, col)
		default:
			t.Columns = append(t.Columns, copied(col))
		}
	}
	return true
}

func (e *entry) dropColumn(column string) {
	for _, t := range e.family() {
		t.Columns = slices.DeleteFunc(t.Columns, func(c *Column) bool { return strings.EqualFold(c.Name, column) })
		t.keys = slices.DeleteFunc(t.keys, func(k key) bool {
			return slices.ContainsFunc(k.columns, func(c string) bool { return strings.EqualFold(c, column) })
		})
	}
}

func (e *entry) renameColumn(from, to string) {
	for _, t := range e.family() {
		if c := t.Column(from); c != nil {
			c.Name = to
		}
		for _, k := range t.keys {
			for i, c := range k.columns {
				if strings.EqualFold(c, from) {
					k.columns[i] = to
				}
			}
		}
	}
}

// change applies f to the column in e and its heirs; false if e has none.
func (e *entry) change(column string, f func(*Column)) bool {
	for _, t := range e.family() {
		if c := t.Column(column); c != nil {
			f(c)
		}
	}
	return e.Column(column) != nil
}

// addKey adds a key to e and its partitions. A nameless one gets the name
// PostgreSQL would give it, by which a later statement may drop it.
func (e *entry) addKey(k key) {
	if k.name == "" {
		k.name = e.Name + "_" + strings.Join(k.columns, "_") + "_key"
	}
	if k.primary && strings.HasSuffix(k.name, "_key") {
		k.name = e.Name + "_pkey"
	}
	for _, t := range e.partitions() {
		own := k
		own.columns = slices.Clone(k.columns)
		if k.primary {
			t.keys = slices.DeleteFunc(t.keys, func(old key) bool { return old.primary })
		}
		t.keys = append(t.keys, own)
	}
}

// primary is the columns of the primary key.
func (e *entry) primary() []string {
	for _, k := range e.keys {
		if k.primary {
			return k.columns
		}
	}
	return nil
}

func (e *entry) dropOwnKey(named string) {
	e.keys = slices.DeleteFunc(e.keys, func(k key) bool { return strings.EqualFold(k.name, named) })
}

// dropKey drops the key of that name, wherever it is.
func (c *catalog) dropKey(named string) {
	for _, e := range c.tables {
		e.dropOwnKey(named)
	}
}

func (e *entry) renameOwnKey(from, to string) {
	for i, k := range e.keys {
		if strings.EqualFold(k.name, from) {
			e.keys[i].name = to
		}
	}
}

func (c *catalog) renameKey(from, to string) {
	for _, e := range c.tables {
		e.renameOwnKey(from, to)
	}
}

// place moves a column behind the one named, or to the front if after is empty.
func (e *entry) place(column, after string) {
	from := slices.IndexFunc(e.Columns, func(c *Column) bool { return strings.EqualFold(c.Name, column) })
	if from < 0 {
		return
	}
	col := e.Columns[from]
	rest := slices.Delete(e.Columns, from, from+1)
	to := 1 + slices.IndexFunc(rest, func(c *Column) bool { return after != "" && strings.EqualFold(c.Name, after) })
	if to == 0 && after != "" {
		to = from
	}
	e.Columns = slices.Insert(rest, to, col)
}

// addTrigger adds or replaces a trigger of e and its partitions.
func (e *entry) addTrigger(t trigger) {
	for _, p := range e.partitions() {
		p.dropTrigger(t.Name)
		own := t
		p.triggers = append(p.triggers, &own)
	}
}

func (e *entry) dropTrigger(named string) {
	e.triggers = slices.DeleteFunc(e.triggers, func(t *trigger) bool { return strings.EqualFold(t.Name, named) })
}

// setFunction remembers the body of a function, in place of an earlier one.
func (c *catalog) setFunction(f function) {
	c.functions = slices.DeleteFunc(c.functions, func(old function) bool { return old.name == f.name })
	c.functions = append(c.functions, f)
}

// body is the text of the function a trigger calls: the last one written.
func (c *catalog) body(n name) string {
	for _, f := range slices.Backward(c.functions) {
		if f.name.same(n) {
			return f.body
		}
	}
	return ""
}

// settle gives a column what its type brings along. Of an array the type is that of the
// elements, and what it says of NULL and of a default is theirs.
func (c *catalog) settle(col *Column, typeName name, array bool) {
	col.Base, col.enum = col.Type, nil
	d := c.domain(typeName)
	if d == nil {
		return
	}
	col.enum = d.enum
	if array {
		col.Base = d.base + col.Type[strings.IndexByte(col.Type, '['):]
		return
	}
	col.Base = d.base
	col.NotNull = col.NotNull || d.notNull
	col.HasDefault = col.HasDefault || d.hasDefault
}

// schema is the finished result.
func (c *catalog) schema() []*Table {
	var tables []*Table
	for _, e := range c.tables {
		e.PrimaryKey, e.Uniques, e.Triggers = nil, nil, nil
		for _, k := range e.keys {
			switch {
			case k.primary:
				e.PrimaryKey = k.columns
			case !slices.ContainsFunc(e.Uniques, func(u []string) bool { return slices.Equal(u, k.columns) }):
				e.Uniques = append(e.Uniques, k.columns)
			}
		}
		for _, t := range e.triggers {
			if t.disabled {
				continue
			}
			if t.function.name != "" {
				t.Body = c.body(t.function)
			}
			e.Triggers = append(e.Triggers, t.Trigger)
		}
		for _, col := range e.Columns {
			if col.enum != nil {
				col.Enum, col.Labels = col.enum.name.String(), col.enum.labels
			}
		}
		tables = append(tables, e.Table)
	}
	return tables
}
