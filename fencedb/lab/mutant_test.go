package lab

import "testing"

// caught returns the scenario in which a mutant is caught, and the first run that does so.
func caught(t *testing.T, m *Mutant) (*Scenario, *Result) {
	t.Helper()
	s, err := Lookup(m.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	r := Explore(s, 1, m.Seeds, Options{Mutant: m}, 2)
	if r.First == nil {
		t.Fatalf("not caught in %d seeds", r.Seeds)
	}
	return s, r.First
}

// Every rule that is broken on purpose is seen, within its budget of seeds.
func TestMutantsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what may take thousands of seeds: go test -run TestMutantsAreCaught ./fencedb/lab")
	}
	for _, m := range Mutants {
		t.Run(m.Name, func(t *testing.T) {
			_, r := caught(t, m)
			t.Logf("seed %d: %s: %s", r.Seed, r.Violation.Invariant, r.Violation.Says)
		})
	}
}
