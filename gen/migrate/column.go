package migrate

import (
	"cmp"
	"slices"

	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/schema"
	"github.com/fencelint/fence/internal/suggest"
)

// A Column is a fence column that fence.yaml names and the schema does not have.
type Column struct {
	Schema, Table string // as the schema has them
	Name          string
	Type          string
	Pos           config.Pos // of the table in fence.yaml
}

// Missing are the fence columns that a migration can add: those of tables whose tokens are
// ordered. A name much like that of a column that is there is a misspelling, which
// plan.Make reports.
func Missing(c *config.Config, s *schema.Schema) []Column {
	d, ok := dialects[c.Dialect]
	if !ok {
		return nil
	}
	var missing []Column
	for _, t := range s.Tables {
		e, ok := entry(c, t)
		if !ok || e.Fence == "" || cmp.Or(e.Rule, config.Monotonic) != config.Monotonic || guarded(e, t) || t.Column(e.Fence) != nil {
			continue
		}
		if misspelt(e.Fence, t) {
			continue
		}
		missing = append(missing, Column{t.Schema, t.Name, e.Fence, d.int64, e.Name.Pos})
	}
	return missing
}

// misspelt tells whether a name is likely to be meant for a column that t has.
func misspelt(name string, t *schema.Table) bool {
	if slices.Contains(config.UsualFences(), name) { // nobody writes them for another one
		return false
	}
	_, near := suggest.Nearest(name, columnNames(t))
	return near
}

// entry is what fence.yaml says about a table. The last entry counts, as for the plan.
func entry(c *config.Config, t *schema.Table) (config.Table, bool) {
	for _, e := range slices.Backward(c.Tables) {
		if t.Named(e.Name.Text) {
			return e, true
		}
	}
	return config.Table{}, false
}

// guarded tells whether the token is compared on a guard row, wherever that is said.
func guarded(e config.Table, t *schema.Table) bool {
	return e.Guard != "" || slices.ContainsFunc(t.Directives, func(d config.Directive) bool {
		return d.Verb == "protect" && d.Options["guard"] != ""
	})
}

func columnNames(t *schema.Table) []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return names
}

// With is s as it will be with the columns, which come last in their tables. s itself
// stays as it is.
func With(s *schema.Schema, columns []Column) *schema.Schema {
	with := *s
	with.Tables = slices.Clone(s.Tables)
	for i, t := range with.Tables {
		for _, c := range columns {
			if c.Schema != t.Schema || c.Table != t.Name {
				continue
			}
			own := *t
			own.Columns = append(slices.Clone(t.Columns), &schema.Column{
				Name: c.Name, Type: c.Type, Base: c.Type, Pos: t.Pos, NotNull: true, HasDefault: true,
			})
			with.Tables[i] = &own
		}
	}
	return &with
}
