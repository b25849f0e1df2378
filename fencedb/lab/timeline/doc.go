// Package timeline draws a run of the lab for people: receipts in text, a Mermaid diagram, a
// page of HTML; and writes its log for programs.
//
// All four are of one run that was played with [lab.Options].Log. The same run gives the same
// bytes, on every machine.
package timeline

import "github.com/fencelint/fence/fencedb/lab"

// Options say how a run is drawn. The zero Options draw what matters.
type Options struct {
	// Verbose has WriteReceipts tell everything that the log has, and print every receipt.
	Verbose bool
	// Mutant names the rule that was broken on purpose; empty if none was.
	Mutant string
	// Replay is the command that plays the run again, which text and page show; it may be empty.
	Replay string
}

// The lanes that no worker has. A scenario's workers cannot have these names.
const (
	coordinator = "coordinator"
	resource    = "resource"
)

// lanes are who takes part, from top to bottom: requests to the coordinator go up, writes down.
func lanes(s *lab.Scenario) []string {
	all := []string{coordinator}
	for _, w := range s.Workers {
		all = append(all, w.Name)
	}
	return append(all, resource)
}
