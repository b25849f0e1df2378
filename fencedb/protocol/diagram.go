package protocol

import (
	"fmt"
	"slices"
	"strings"
)

// Diagram returns a table of transitions as a state diagram of Mermaid, one arrow for each
// pair of states, labelled with the events that lead from one to the other.
func Diagram(table []Rule) string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n    [*] --> idle\n")
	type arrow struct{ from, to State }
	var order []arrow
	labels := map[arrow][]string{}
	for _, r := range table {
		for _, from := range r.From {
			a := arrow{from, r.To}
			if from == r.To {
				continue // the table has them; in the drawing they hide the others
			}
			if labels[a] == nil {
				order = append(order, a)
			}
			if label := r.On.String(); !slices.Contains(labels[a], label) {
				labels[a] = append(labels[a], label)
			}
		}
	}
	for _, a := range order {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", a.from, a.to, strings.Join(labels[a], ", "))
	}
	for _, s := range []State{WasReleased, Lost} {
		fmt.Fprintf(&b, "    %s --> [*]\n", s)
	}
	return b.String()
}

// Table returns a table of transitions in Markdown, a row for each rule, in order.
func Table(table []Rule) string {
	var b strings.Builder
	b.WriteString("| state | event | if | next state | what is done | why |\n|---|---|---|---|---|---|\n")
	for _, r := range table {
		var from, do []string
		for _, s := range r.From {
			from = append(from, s.String())
		}
		for _, e := range r.Do {
			do = append(do, e.Name)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", strings.Join(from, ", "), r.On, r.If.Name, r.To, strings.Join(do, "; "), r.Why)
	}
	return b.String()
}
