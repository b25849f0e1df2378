package schema

import "strings"

// Table returns the table of that name, schema-qualified or not, in any case;
// nil if there is none or if the name is ambiguous. A table whose own schema is
// not known (its statement did not say) answers to every schema.
func (s *Schema) Table(schema, name string) *Table {
	return pick(s.Tables, schema, name)
}

// pick prefers the spelling as given over the same name in another case, and a
// table of that very schema over one of an unknown schema.
func pick(tables []*Table, schema, name string) *Table {
	var named, folded []*Table
	for _, t := range tables {
		if t.Name == name {
			named = append(named, t)
		}
		if strings.EqualFold(t.Name, name) {
			folded = append(folded, t)
		}
	}
	for _, candidates := range [][]*Table{named, folded} {
		if schema == "" {
			if len(candidates) > 0 {
				return only(candidates)
			}
			continue
		}
		var exact, open []*Table
		for _, t := range candidates {
			switch {
			case strings.EqualFold(t.Schema, schema):
				exact = append(exact, t)
			case t.Schema == "":
				open = append(open, t)
			}
		}
		if len(exact) > 0 {
			return only(exact)
		}
		if len(open) > 0 {
			return only(open)
		}
	}
	return nil
}

func only(tables []*Table) *Table {
	if len(tables) == 1 {
		return tables[0]
	}
	return nil
}

// Named tells whether t is the table that a name of fence.yaml, with or without a schema,
// means, in any case.
func (t *Table) Named(name string) bool { return Named(name, t.Schema, t.Name) }

// Named tells whether a name of fence.yaml means the table of that name in a schema. Where
// one of the two has no schema, its name alone decides.
func Named(name, schema, table string) bool {
	of, n := "", name
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		of, n = name[:i], name[i+1:]
	}
	return strings.EqualFold(n, table) && (of == "" || schema == "" || strings.EqualFold(of, schema))
}

// Column returns the column of that name in any case, or nil.
func (t *Table) Column(name string) *Column {
	var folded *Column
	for _, c := range t.Columns {
		if c.Name == name {
			return c
		}
		if folded == nil && strings.EqualFold(c.Name, name) {
			folded = c
		}
	}
	return folded
}
