package lab

import (
	"embed"
	"fmt"
	"path"
)

//go:embed shapes/*.json
var shapes embed.FS

// Shape returns the scenario of a shape of code: "pause", for ownership that is known before a
// write that compares nothing, or "clock", for an expiry that is compared with a clock of the
// process's own. Fence explain draws them with the lines of a finding. Another name is an
// [*InputError].
func Shape(name string) (*Scenario, error) {
	file := name + ".json"
	text, err := shapes.ReadFile(path.Join("shapes", file))
	if err != nil {
		return nil, &InputError{name, "there is no such shape", "there are clock and pause"}
	}
	s, err := ParseScenario(file, text)
	if err != nil {
		return nil, fmt.Errorf("reading the shape %s: %w", name, err)
	}
	return s, nil
}

// Guarded returns the scenario with another guard.
func (s *Scenario) Guarded(g GuardKind) *Scenario {
	guarded := *s
	guarded.Guard = g
	return &guarded
}
