package storetest

import (
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/lab"
)

// labResults are the lab's words for decisions.
var labResults = map[string]fencedb.Result{"accepted": fencedb.Accepted, "raised": fencedb.Accepted, "stale": fencedb.Stale,
	"not_granted": fencedb.NotGranted, "conflict": fencedb.Conflict}

// labHistory is what clients saw of the resource in a run of the lab: each raise and write
// from when it was sent to when it was decided.
func labHistory(t *testing.T, log []lab.Entry) []porcupine.Operation {
	t.Helper()
	clients := map[string]int{}
	sent := map[uint64]lab.Time{}
	var history []porcupine.Operation
	for _, e := range log {
		switch {
		case e.Kind == lab.EntrySend && (e.Op == "write" || e.Op == "raise"):
			sent[e.Msg] = e.At
		case e.Kind == lab.EntryDecision:
			result, ok := labResults[e.Result]
			call, known := sent[e.Msg]
			if !ok || !known {
				t.Fatalf("decision %+v of what was not sent", e)
			}
			if _, ok := clients[e.Peer]; !ok {
				clients[e.Peer] = len(clients)
			}
			history = append(history, porcupine.Operation{ClientId: clients[e.Peer], Input: op{kind: e.Op, token: e.Token, value: int64(e.Msg)},
				Call: int64(call), Output: answer{result: result}, Return: int64(e.At)})
		}
	}
	return history
}

// The lab's histories of a guarded resource are those of one that does everything at once:
// another checker than the lab's own invariants says so, and sees the rules that are broken.
func TestLabHistoriesAreLinearizable(t *testing.T) {
	model := fenced.ToModel()
	check := func(name, mutant string, seed uint64) (porcupine.CheckResult, int) {
		s, err := lab.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := lab.LookupMutant(mutant)
		if err != nil {
			t.Fatal(err)
		}
		history := labHistory(t, lab.Run(s, seed, lab.Options{Mutant: m, Log: true}).Log)
		return porcupine.CheckOperationsTimeout(model, history, time.Minute), len(history)
	}
	operations := 0
	for _, name := range []string{"storm", "late-writes", "late-replies", "release-and-renew", "freeze"} {
		for seed := range uint64(20) {
			result, n := check(name, "", seed)
			operations += n
			if result != porcupine.Ok {
				t.Errorf("%s, seed %d: %v", name, seed, result)
			}
		}
	}
	if operations < 10_000 {
		t.Errorf("only %d operations", operations)
	}
	// Not check-then-apply: without reads a write that came late is one that was decided early.
	for _, mutant := range []string{"unfenced", "no-raise"} {
		caught := false
		for seed := range uint64(20) {
			result, _ := check("late-writes", mutant, seed)
			caught = caught || result == porcupine.Illegal
		}
		if !caught {
			t.Errorf("20 histories of %s seem right", mutant)
		}
	}
	t.Logf("%d operations", operations)
}
