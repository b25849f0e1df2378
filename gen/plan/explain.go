package plan

import (
	"fmt"
	"strings"
)

// Explain shows the statements of a table's writer, with what their placeholders are
// bound to and how their outcome is read.
func (t *Table) Explain() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", t.Name)
	switch t.Kind {
	case Scope:
		b.WriteString("in the scope of a token. Its guard row is locked and compared before these run, in their transaction.\n")
	case Row:
		fmt.Fprintf(&b, "each row compares the token itself, in column %s (rule %s).\n", t.Fence.Name, t.Rule)
	}
	if t.Resource != nil {
		fmt.Fprintf(&b, "A row is of the resource %q.\n", t.Resource.Text)
	}
	b.WriteString("Columns in a list may be missing: only those that are given are sent.\n")
	show := func(name string, s Statement, o Outcome) {
		fmt.Fprintf(&b, "\n%s\n  %s\n", name, s)
		if bound := s.Bound(); len(bound) > 0 {
			fmt.Fprintf(&b, "  bound: %s\n", strings.Join(bound, ", "))
		}
		if text := outcomes[o]; text != "" {
			fmt.Fprintf(&b, "  %s\n", text)
		}
	}
	show("Insert", t.Insert.Statement, Done)
	if len(t.Update.Segments) == 0 {
		b.WriteString("\nUpdate\n  none: the key is all there is; Look tells whether there is the row\n")
	} else {
		show("Update", t.Update.Statement, t.Update.Outcome)
	}
	switch {
	case t.Upsert == nil:
		b.WriteString("\nUpsert\n  none: the database makes a part of the key\n")
	case t.Upsert.Statement == nil:
		b.WriteString("\nUpsert\n  Update, and Insert if there is no such row\n")
	default:
		show("Upsert", *t.Upsert.Statement, t.Upsert.Outcome)
	}
	show("Delete", t.Delete.Statement, t.Delete.Outcome)
	show("Look, after a statement that changed nothing", t.Look, looked)
	return b.String()
}

// looked is that of Look: what its columns mean is said by their names.
const looked Outcome = -1

// outcomes say how the answer to a statement is read.
var outcomes = map[Outcome]string{
	Counted:        "accepted if one row was affected; else Look tells why not",
	Matched:        "accepted if one row was affected, or the last insert id is not 0; else Look tells why not",
	CountedChanges: "accepted if one row was affected, or none and Look finds the row, which was as it should be",
	Done:           "its only other outcome is the database's error",
}
