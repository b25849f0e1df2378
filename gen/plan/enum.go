package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fencelint/fence/internal/schema"
)

// enum is t, a string or a slice of them, as the Go type of c's enum. Columns of one type
// of the database share it.
func (m *maker) enum(s *schema.Table, c *schema.Column, t Type) Type {
	name := cmp.Or(c.Enum, s.Name+"."+c.Name)
	e := m.enumOf[name]
	if e == nil {
		e = &Enum{GoName: goName(unqualified(name)), Name: name, Named: c.Enum != "", Pos: c.Pos}
		if !e.Named {
			e.GoName = goName(s.Name) + goName(c.Name)
		}
		for _, l := range c.Labels {
			e.Labels = append(e.Labels, Label{l, e.GoName + camelCase(cmp.Or(l, "empty"))})
		}
		if m.enumOf == nil {
			m.enumOf = map[string]*Enum{}
		}
		m.enumOf[name] = e
	}
	t.Name, t.Enum = strings.TrimSuffix(t.Name, goString.Name)+e.GoName, e
	return t
}

// enums collects the enums of the columns that writers have, and refuses those whose Go
// names are taken.
func (m *maker) enums() {
	for _, t := range m.pkg.Tables {
		for _, c := range slices.Concat(t.Columns, t.Key) {
			if e := c.Type.Enum; e != nil && !slices.Contains(m.pkg.Enums, e) {
				m.pkg.Enums = append(m.pkg.Enums, e)
				m.enumNames(e)
			}
		}
	}
}

// enumNames refuses an enum whose type or constants have no Go name of their own.
func (m *maker) enumNames(e *Enum) {
	text := fmt.Sprintf("write generate: overrides: [{column: %s, go: string}]", e.Name)
	if e.Named {
		text = fmt.Sprintf("write generate: overrides: [{type: %s, go: string}]", e.Name)
	}
	claim := func(goName, what string) {
		switch had, ok := m.taken[goName]; {
		case own[goName]:
			m.fail(e.Pos, fmt.Sprintf("%s would be %s in Go, which every generated package has", what, goName), text)
		case ok:
			m.fail(e.Pos, fmt.Sprintf("%s would be %s in Go, as %s is", what, goName, had), text)
		}
		m.taken[goName] = what
	}
	if e.GoName == "" {
		m.fail(e.Pos, fmt.Sprintf("enum %s has no letter to name its type by", e.Name), text)
		return
	}
	claim(e.GoName, "enum "+e.Name)
	for _, l := range e.Labels {
		what := fmt.Sprintf("value %q of enum %s", l.Text, e.Name)
		if l.GoName == e.GoName {
			m.fail(e.Pos, what+" has no letter to name a constant by", text)
			continue
		}
		claim(l.GoName, what)
	}
}
