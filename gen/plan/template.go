package plan

import (
	"fmt"
	"regexp"
	"strings"
)

// A Template says of which resource a row is: "orders:{region}".
type Template struct {
	Text  string
	Parts []TemplatePart
	// InKey: every column of it is part of the key, so that the resource is known before
	// the database is asked.
	InKey bool
	// Texts: some column is a text. What the program gives for it may be spelt otherwise
	// than in the row, where the two count as equal.
	Texts bool
}

// A TemplatePart is a text, or the value of a column.
type TemplatePart struct {
	Text   string
	Column *Column
}

// inSQL tells whether the row itself has to be asked.
func (t *Template) inSQL() bool { return t != nil && (!t.InKey || t.Texts) }

var hole = regexp.MustCompile(`\{[^{}]*\}`)

// parseTemplate reads a template. An error says what is wrong, and what to write.
func parseTemplate(text string, column func(name string) (*Column, error)) (*Template, error) {
	t := &Template{Text: text, InKey: true}
	rest := 0
	for _, at := range hole.FindAllStringIndex(text, -1) {
		if text[rest:at[0]] != "" {
			t.Parts = append(t.Parts, TemplatePart{Text: text[rest:at[0]]})
		}
		c, err := column(text[at[0]+1 : at[1]-1])
		if err != nil {
			return nil, err
		}
		t.Parts = append(t.Parts, TemplatePart{Column: c})
		t.InKey = t.InKey && c.Key
		t.Texts = t.Texts || !integer(c.Type)
		rest = at[1]
	}
	if text[rest:] != "" {
		t.Parts = append(t.Parts, TemplatePart{Text: text[rest:]})
	}
	for _, p := range t.Parts {
		if p.Column == nil && strings.ContainsAny(p.Text, "{}") {
			return nil, fmt.Errorf("a brace has no other one")
		}
	}
	return t, nil
}
