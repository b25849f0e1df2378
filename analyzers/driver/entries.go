package driver

import (
	"slices"

	"github.com/fencelint/fence/internal/config"
)

// means is what an entry of fence.yaml names.
type means int

const (
	anObject         means = iota // of Go
	anObjectOrColumn              // whichever there is
	aColumn                       // table.column, schema.table.column
	anOrderedColumn               // the same, of a type whose values have an order
	aTable                        // table, schema.table
	aColumnAnywhere               // of any table
	packagesHere                  // of the main modules
	packagesAnywhere              // of the main modules or what they import
)

// entry is a name in fence.yaml that must be found for it to say anything.
type entry struct {
	key   string
	means means
	name  config.Name
}

// entries returns the names in c, in the order of its keys.
func entries(c *config.Config) []entry {
	var all []entry
	add := func(key string, m means, names ...config.Name) {
		for _, n := range names {
			all = append(all, entry{key, m, n})
		}
	}
	column := func(key string, m means, table config.Name, column string) {
		if column != "" {
			add(key, m, config.Name{Text: table.Text + "." + column, Pos: table.Pos})
		}
	}
	for _, f := range c.FenceColumns {
		add("fence_columns", aColumnAnywhere, f.Name)
	}
	for _, t := range c.Tables {
		add("tables", aTable, t.Name)
		fence := aColumn
		if t.Rule == config.Monotonic {
			fence = anOrderedColumn
		}
		column("tables: fence", fence, t.Name, t.Fence)
		for _, open := range t.Open {
			add("tables: open", aColumn, config.Name{Text: t.Name.Text + "." + open.Text, Pos: open.Pos})
		}
	}
	for _, g := range c.Guards {
		if g.Table.Text == config.DefaultGuards {
			continue // fencedb can make it, without a migration
		}
		add("guards", aTable, g.Table)
		column("guards: resource", aColumn, g.Table, g.Resource)
		column("guards: token", aColumn, g.Table, g.Token)
		column("guards: grant", aColumn, g.Table, g.GrantCol)
	}
	add("writers", packagesHere, c.Writers...)
	for _, r := range c.Resources {
		add("resources: writes", anObject, r.Writes...)
		add("resources: fenced", anObject, r.Fenced...)
	}
	add("tokens", anObjectOrColumn, c.Tokens...)
	add("grants", anObjectOrColumn, c.Grants...)
	l := c.Leases
	add("leases: checks", anObject, l.Checks...)
	add("leases: acquire", anObject, l.Acquire...)
	add("leases: renew", anObject, l.Renew...)
	add("leases: release", anObject, l.Release...)
	add("leases: lost", anObject, l.Lost...)
	add("leases: callbacks", anObject, l.Callbacks...)
	add("leases: expiries", anObjectOrColumn, l.Expiries...)
	add("leases: clocks", anObject, l.Clocks...)
	add("effects: calls", anObject, c.Effects.Calls...)
	add("analyze", packagesAnywhere, c.Analyze...)
	return all
}

// namesSchema tells whether any entry needs the schema.
func namesSchema(all []entry) bool {
	return slices.ContainsFunc(all, func(e entry) bool { return e.means >= anObjectOrColumn && e.means <= aColumnAnywhere })
}
