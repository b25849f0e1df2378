package lab

import "testing"

// Every rule that is broken on purpose is seen, within its budget of seeds.
func TestMutantsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("each may take thousands of seeds; without -short it does")
	}
	for _, m := range Mutants {
		t.Run(m.Name, func(t *testing.T) {
			s, err := Lookup(m.Scenario)
			if err != nil {
				t.Fatal(err)
			}
			r := Explore(s, 1, m.Seeds, Options{Mutant: m}, 2)
			if r.First == nil {
				t.Fatalf("not caught in %d seeds", r.Seeds)
			}
			t.Logf("seed %d: %s: %s", r.First.Seed, r.First.Violation.Invariant, r.First.Violation.Says)
		})
	}
}
