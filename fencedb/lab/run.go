package lab

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/fencelint/fence/fencedb/protocol"
)

func percent(ppm int64) string { return fmt.Sprintf("%+g%%", float64(ppm)/1e4) }

// Options change a run.
type Options struct {
	Mutant   *Mutant   // nil: none, or the scenario's own
	Schedule *Schedule // exactly what goes wrong; nil: what the seed draws
	Log      bool      // keep the log, and what went wrong by chance
}

// A Result is what came of a run.
type Result struct {
	Seed      uint64
	Violation *Violation // nil if every invariant holds
	Marks     [markerCount]uint64
	Events    uint64
	Simulated Time
	Log       []Entry
	Schedule  Schedule // what went wrong, with Options.Log
}

// mutant returns the mutant of a run: an option's, or the scenario's own.
func (o Options) mutant(s *Scenario) *Mutant {
	if o.Mutant != nil {
		return o.Mutant
	}
	m, err := LookupMutant(s.Mutant)
	if err != nil {
		return none // Check has refused it
	}
	return m
}

// Run plays a scenario that passes Check once. The same arguments give the same result, on
// every machine.
func Run(s *Scenario, seed uint64, o Options) Result {
	m := o.mutant(s)
	return play(s, m, m.holderRules(), seed, o)
}

func play(s *Scenario, m *Mutant, rules *protocol.Rules, seed uint64, o Options) Result {
	r := Result{Seed: seed}
	var trace func(Entry)
	if o.Log {
		trace = func(e Entry) { r.Log = append(r.Log, e) }
	}
	w := newWorld(s, m, rules, seed, o.Schedule, trace)
	clocks := w.clocks(o.Log)
	w.run()
	r.Violation, r.Marks, r.Events, r.Simulated = w.judge.violation, w.judge.marks, w.events, w.now
	if o.Log {
		r.Schedule = Schedule{Messages: w.fates, Clocks: clocks}
		for _, f := range w.faults {
			if Time(f.At) <= w.now {
				r.Schedule.Faults = append(r.Schedule.Faults, f)
			}
		}
	}
	return r
}

// clocks returns how fast the clocks are that a run begins with, if that is wanted.
func (w *world) clocks(wanted bool) map[string]int64 {
	if !wanted {
		return nil
	}
	rates := map[string]int64{storeName: w.store.clock.ppm}
	for i := range w.nodes {
		rates[w.nodes[i].name] = w.nodes[i].clock.ppm
	}
	return rates
}

// A Report is what came of many runs.
type Report struct {
	Seeds     uint64  // that were played
	First     *Result // of the smallest seed that broke an invariant; nil if none did
	Marks     [markerCount]uint64
	Events    uint64
	Simulated Time
}

// block is how many seeds are played before it is looked whether one broke an invariant.
const block = 256

// Explore plays the seeds from first on, n of them, on some goroutines, and stops soon after
// one that breaks an invariant. The report is the same on any number of goroutines.
func Explore(s *Scenario, first, n uint64, o Options, goroutines int) Report {
	m := o.mutant(s)
	rules := m.holderRules()
	o.Log = false
	var report Report
	for done := uint64(0); done < n && report.First == nil; done += block {
		size := min(block, n-done)
		results := make([]Result, size)
		var group sync.WaitGroup
		for g := range max(1, goroutines) {
			group.Go(func() {
				for i := uint64(g); i < size; i += uint64(max(1, goroutines)) {
					results[i] = play(s, m, rules, first+done+i, o)
				}
			})
		}
		group.Wait()
		for i := range results {
			r := &results[i]
			report.Seeds++
			report.Events += r.Events
			report.Simulated += r.Simulated
			for k, c := range r.Marks {
				report.Marks[k] += c
			}
			if r.Violation != nil {
				report.First = r
				break
			}
		}
	}
	return report
}

// Missing returns the markers that a scenario wants and that were not met.
func Missing(s *Scenario, marks [markerCount]uint64) []string {
	var missing []string
	for _, name := range s.Markers {
		for i, m := range Markers {
			if m.Name == name && marks[i] == 0 {
				missing = append(missing, name)
			}
		}
	}
	return missing
}

// ParseSeed reads a seed: a number, in decimal, that fits 64 bits.
func ParseSeed(text string) (uint64, error) {
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, &InputError{text, "this is no seed", "write a number from 0 to 18446744073709551615"}
	}
	return seed, nil
}
