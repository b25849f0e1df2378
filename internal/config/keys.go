package config

import (
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/fencelint/fence/internal/sqlstmt"
	"github.com/fencelint/fence/internal/suggest"
)

// Transaction is the guard that is not a table: a lock held to the commit.
const Transaction = "transaction"

// pgx is the driver that talks to PostgreSQL alone.
const pgx = "pgx"

// The words that may stand for a value.
var (
	dialects    = []string{"postgres", "mysql", "mariadb", "sqlite"}
	rules       = []Rule{Monotonic, Equal}
	levels      = []Level{Off, Warning, Error}
	enforcers   = []string{"trigger"}
	drivers     = []string{"database/sql", pgx}
	schemaModes = []string{"runtime"}
	formats     = []string{"goose", "golang-migrate", "dbmate", "plain"}
	checkNames  = []string{
		"unfencedwrite", "checkthenwrite", "wallclockexpiry", "unorderedtoken", "expirymargin",
		"lostrenewal", "unfencedeffect", "unboundrun", "droppedrejection", "fencecompare",
	}
)

// DefaultGuards is the table of guard rows that fencedb makes unless it is told another
// name. It needs no entry under guards.
const DefaultGuards = "fence_guards"

// UsualFences are the columns that protect every table they stand in, without any
// configuration.
func UsualFences() []string { return []string{"fence", "fence_token", "fencing_token"} }

// CheckNames is the name of every check a file may set, in the documentation's
// order.
func CheckNames() []string { return slices.Clone(checkNames) }

// config reads the whole file.
func (d *decoder) config(root *yaml.Node, c *Config) {
	d.object(root, "", []key{
		{"version", d.version},
		{"dialect", d.dialect(c)},
		{"schema", d.names(&c.Schema, "schema", schemaPath)},
		{"fence_columns", d.fenceColumns(c)},
		{"tables", d.tables(c)},
		{"guards", d.guardTables(c)},
		{"writers", d.names(&c.Writers, "writers", packagePattern)},
		{"resources", d.resources(c)},
		{"tokens", d.names(&c.Tokens, "tokens", goOrColumn)},
		{"grants", d.names(&c.Grants, "grants", goOrColumn)},
		{"leases", d.leases(&c.Leases)},
		{"effects", d.effects(&c.Effects)},
		{"checks", d.checks(c)},
		{"strict", d.boolean(&c.Strict, "strict")},
		{"exclude", d.names(&c.Exclude, "exclude", glob)},
		{"analyze", d.names(&c.Analyze, "analyze", packagePattern)},
		{"generate", d.generate(c)},
	})
	d.resolveGuards(c)
	d.driverOfDialect(c)
}

func (d *decoder) version(n *yaml.Node) {
	if !d.is(n, "version", anInt) {
		return
	}
	if v, err := strconv.ParseInt(n.Value, 0, 64); err != nil || v != 1 {
		d.fail(n, fmt.Sprintf("version: unknown version %s", brief(n.Value)), "write version: 1, or use a newer fence")
	}
}

func (d *decoder) dialect(c *Config) func(*yaml.Node) {
	return func(n *yaml.Node) {
		var word string
		if oneOf(d, &word, "dialect", dialects)(n); word == "" {
			return
		}
		var err error
		if c.Dialect, err = sqlstmt.ParseDialect(word); err != nil {
			d.fail(n, err.Error(), "")
		}
	}
}

func (d *decoder) fenceColumns(c *Config) func(*yaml.Node) {
	const what = "fence_columns"
	return func(n *yaml.Node) {
		d.items(n, what, func(item *yaml.Node) {
			col, before := FenceColumn{Rule: Monotonic}, len(d.errs)
			if item.Kind != yaml.MappingNode {
				if name, ok := d.name(item, what, columnName); ok {
					col.Name = name
					c.FenceColumns = append(c.FenceColumns, col)
				}
				return
			}
			seen := d.object(item, what, []key{
				{"name", func(v *yaml.Node) { col.Name, _ = d.name(v, what+": name", columnName) }},
				{"rule", oneOf(d, &col.Rule, what+": rule", rules)},
			})
			if seen["name"] == nil && len(d.errs) == before {
				d.fail(item, what+": no name", "write {name: attempt, rule: equal}")
			}
			c.FenceColumns = append(c.FenceColumns, col)
		})
	}
}

// contradictions are pairs of keys of one table that cannot both be meant.
var contradictions = []struct{ one, other, why, hint string }{
	{"fence", "protect", "protect says that there is no fence yet", "keep fence"},
	{"guard", "protect", "protect says that there is no fence yet", "keep guard"},
	{"enforced", "protect", "a trigger cannot compare a fence that is not there yet", "keep enforced"},
	{"rule", "protect", "rule says how a fence is compared, protect that there is none yet", "name the column with fence, or remove rule"},
}

func (d *decoder) tables(c *Config) func(*yaml.Node) {
	return func(n *yaml.Node) {
		d.entries(n, "tables", func(k, v *yaml.Node) {
			name, ok := d.name(k, "tables", tableName)
			t := Table{Name: name}
			if d.table(v, "tables: "+brief(k.Value), &t) && ok {
				c.Tables = append(c.Tables, t)
			}
		})
	}
}

func (d *decoder) table(n *yaml.Node, what string, t *Table) bool {
	seen := d.object(n, what, []key{
		{"fence", d.word(&t.Fence, what+": fence", columnName)},
		{"rule", oneOf(d, &t.Rule, what+": rule", rules)},
		{"resource", d.word(&t.Resource, what+": resource", printable)},
		{"guard", d.guardOf(&t.Guard, what+": guard")},
		{"protect", d.boolean(&t.Protect, what+": protect")},
		{"enforced", oneOf(d, &t.Enforced, what+": enforced", enforcers)},
		{"open", d.names(&t.Open, what+": open", columnName)},
	})
	if seen == nil {
		return false
	}
	if len(n.Content) == 0 {
		d.fail(n, what+": says nothing", "give it fence, guard or protect: true")
	}
	for _, x := range contradictions {
		if seen[x.one] != nil && seen[x.other] != nil {
			d.fail(seen[x.other], fmt.Sprintf("%s: %s and %s contradict each other: %s", what, x.one, x.other, x.why), x.hint)
		}
	}
	if p := seen["protect"]; p != nil && p.ShortTag() == "!!bool" && !t.Protect {
		d.fail(p, what+": protect: false says nothing", "remove it: a table is protected by its fence, its guard or protect: true")
	}
	if seen["rule"] != nil && seen["guard"] != nil && seen["fence"] == nil {
		d.fail(seen["rule"], what+": rule says how a fence column is compared, and the table names none", "add fence, or remove rule")
	}
	for _, open := range t.Open {
		if t.Fence != "" && open.Text == t.Fence {
			d.errs = append(d.errs, &InputError{Pos: open.Pos, Msg: fmt.Sprintf("%s: the fence column %q cannot be open", what, t.Fence), Hint: "remove it from open"})
		}
	}
	if t.Fence != "" && t.Rule == "" {
		t.Rule = Monotonic
	}
	return true
}

func (d *decoder) guardOf(dst *string, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		name, ok := d.name(n, what, tableName)
		if !ok {
			return
		}
		*dst = name.Text
		d.guards = append(d.guards, reference{name.Text, name.Pos})
	}
}

// resolveGuards refuses the guards that no entry describes.
func (d *decoder) resolveGuards(c *Config) {
	names := []string{Transaction}
	known := map[string]bool{Transaction: true}
	for _, g := range c.Guards {
		names = append(names, g.Table.Text)
		known[g.Table.Text] = true
	}
	for _, ref := range d.guards {
		if known[ref.name] {
			continue
		}
		if ref.name == DefaultGuards {
			c.Guards = append(c.Guards, Guard{Name{ref.name, ref.pos}, "resource", "token", "grant_id"})
			known[ref.name] = true
			continue
		}
		d.errs = append(d.errs, &InputError{
			Pos:  ref.pos,
			Msg:  fmt.Sprintf("guard %q is not under guards", brief(ref.name)),
			Hint: suggest.Hint(ref.name, names, fmt.Sprintf("add it under guards, or write %s", Transaction)),
		})
	}
}

func (d *decoder) guardTables(c *Config) func(*yaml.Node) {
	return func(n *yaml.Node) {
		d.entries(n, "guards", func(k, v *yaml.Node) {
			what := "guards: " + brief(k.Value)
			name, ok := d.name(k, "guards", tableName)
			g := Guard{Table: name}
			seen := d.object(v, what, []key{
				{"resource", d.word(&g.Resource, what+": resource", columnName)},
				{"token", d.word(&g.Token, what+": token", columnName)},
				{"grant", d.word(&g.GrantCol, what+": grant", columnName)},
			})
			if k.Value == Transaction {
				d.fail(k, "guards: transaction means a lock held to the commit", "it needs no entry here; a table of that name needs its schema before it")
				return
			}
			if seen != nil && ok {
				c.Guards = append(c.Guards, g)
			}
		})
	}
}

func (d *decoder) resources(c *Config) func(*yaml.Node) {
	const what = "resources"
	return func(n *yaml.Node) {
		d.items(n, what, func(item *yaml.Node) {
			var r Resource
			before := len(d.errs)
			seen := d.object(item, what, []key{
				{"name", func(v *yaml.Node) { r.Name, _ = d.name(v, what+": name", printable) }},
				{"writes", d.names(&r.Writes, what+": writes", goName)},
				{"fenced", d.names(&r.Fenced, what+": fenced", goName)},
				{"keys", d.names(&r.Keys, what+": keys", printable)},
			})
			switch {
			case len(d.errs) > before: // a misspelt key is not a missing one as well
			case seen["name"] == nil:
				d.fail(item, what+": no name", "write name: and what the resource is called")
			case len(seen) == 1:
				d.fail(item, what+": says nothing", "give it writes, fenced or keys")
			}
			c.Resources = append(c.Resources, r)
		})
	}
}

func (d *decoder) leases(l *Leases) func(*yaml.Node) {
	return func(n *yaml.Node) {
		d.object(n, "leases", []key{
			{"checks", d.names(&l.Checks, "leases: checks", goName)},
			{"acquire", d.names(&l.Acquire, "leases: acquire", goName)},
			{"renew", d.names(&l.Renew, "leases: renew", goName)},
			{"release", d.names(&l.Release, "leases: release", goName)},
			{"lost", d.names(&l.Lost, "leases: lost", goName)},
			{"callbacks", d.names(&l.Callbacks, "leases: callbacks", goName)},
			{"expiries", d.names(&l.Expiries, "leases: expiries", goOrColumn)},
			{"clocks", d.names(&l.Clocks, "leases: clocks", goName)},
		})
	}
}

func (d *decoder) effects(e *Effects) func(*yaml.Node) {
	return func(n *yaml.Node) {
		d.object(n, "effects", []key{
			{"idempotency", d.names(&e.Idempotency, "effects: idempotency", header)},
			{"fence_headers", d.names(&e.FenceHeaders, "effects: fence_headers", header)},
			{"calls", d.names(&e.Calls, "effects: calls", goName)},
		})
	}
}

func (d *decoder) checks(c *Config) func(*yaml.Node) {
	return func(n *yaml.Node) {
		c.Checks = map[string]Level{}
		keys := make([]key, len(checkNames))
		for i, name := range checkNames {
			keys[i] = key{name, func(v *yaml.Node) {
				var level Level
				if oneOf(d, &level, "checks: "+name, levels)(v); level != "" {
					c.Checks[name] = level
				}
			}}
		}
		d.object(n, "checks", keys)
	}
}

func (d *decoder) generate(c *Config) func(*yaml.Node) {
	return func(n *yaml.Node) {
		g := new(Generate)
		c.Generate = g
		seen := d.object(n, "generate", []key{
			{"package", d.word(&g.Package, "generate: package", packageName)},
			{"dir", d.word(&g.Dir, "generate: dir", localDir)},
			{"driver", oneOf(d, &g.Driver, "generate: driver", drivers)},
			{"tests", d.boolean(&g.Tests, "generate: tests")},
			{"schema", oneOf(d, &g.Schema, "generate: schema", schemaModes)},
			{"overrides", d.overrides(g)},
			{"migrations", d.word(&g.Migrations, "generate: migrations", localDir)},
			{"format", oneOf(d, &g.Format, "generate: format", formats)},
		})
		d.driver = seen["driver"]
	}
}

// driverOfDialect refuses a driver that does not talk to the database, once the dialect is
// known. Without a dialect nothing is generated at all.
func (d *decoder) driverOfDialect(c *Config) {
	if c.Generate == nil || c.Generate.Driver != pgx || c.Dialect == sqlstmt.Unknown || c.Dialect == sqlstmt.Postgres {
		return
	}
	d.fail(d.driver, fmt.Sprintf("generate: driver: pgx talks to PostgreSQL, and the dialect is %s", c.Dialect), "write driver: database/sql, or dialect: postgres")
}

func (d *decoder) overrides(g *Generate) func(*yaml.Node) {
	const what = "generate: overrides"
	return func(n *yaml.Node) {
		d.items(n, what, func(item *yaml.Node) {
			o := Override{Pos: d.pos(item)}
			before := len(d.errs)
			seen := d.object(item, what, []key{
				{"type", d.word(&o.Type, what+": type", printable)},
				{"column", d.word(&o.Column, what+": column", columnPath)},
				{"go", d.word(&o.Go, what+": go", goType)},
			})
			switch {
			case len(d.errs) > before:
			case seen["go"] == nil:
				d.fail(item, what+": no Go type", "write go: and a type such as string or github.com/shopspring/decimal.Decimal")
			case (seen["type"] == nil) == (seen["column"] == nil):
				d.fail(item, what+": want a type or a column", "write type: numeric, or column: orders.total")
			}
			g.Overrides = append(g.Overrides, o)
		})
	}
}
