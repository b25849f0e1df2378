package lab

import (
	"encoding/json"
	"testing"
)

// A history that breaks a rule shrinks to one that people can read, and still breaks it.
func TestShrink(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what plays some 50,000 runs: go test -run TestShrink ./fencedb/lab")
	}
	for _, m := range Mutants {
		t.Run(m.Name, func(t *testing.T) {
			s, first := caught(t, m)
			h, err := Shrink(s, first.Seed, Options{Mutant: m}, 4000)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(h)
			if err != nil {
				t.Fatal(err)
			}
			again, err := ParseHistory("history.json", text)
			if err != nil {
				t.Fatal(err)
			}
			played := again.Run(true)
			if played.Violation == nil || played.Violation.Invariant != h.Invariant {
				t.Fatalf("the history breaks %v", played.Violation)
			}
			messages := 0
			for _, e := range played.Log {
				if e.Kind == EntrySend {
					messages++
				}
			}
			if messages > 40 {
				t.Errorf("%d messages are left, more than 40", messages)
			}
			t.Logf("%d faults, %d message faults, %d workers, %d messages, %.1f s", len(h.Faults), len(h.Messages), len(h.Scenario.Workers), messages, float64(played.Violation.At)/1e9)
		})
	}
}
