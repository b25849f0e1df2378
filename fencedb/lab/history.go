package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// Version is that of the lab's randomness: a seed, or a history, of another one plays
// something else, so it is refused.
const Version = 1

// A History is one run and exactly what went wrong in it, small enough to read and to keep.
type History struct {
	Version   int              `json:"version"`
	Scenario  *Scenario        `json:"scenario"`
	Mutant    string           `json:"mutant,omitempty"`
	Seed      uint64           `json:"seed"`
	Invariant string           `json:"invariant,omitempty"` // that it breaks; empty if none
	Faults    []Fault          `json:"faults,omitempty"`
	Messages  []MessageFault   `json:"messages,omitempty"`
	Clocks    map[string]int64 `json:"clocks,omitempty"` // in parts per million above the true rate, by worker, and the coordinator's
}

// ParseHistory reads what MarshalJSON of a History wrote. Errors are [*InputError]s that name
// file; a history of another version is one.
func ParseHistory(file string, text []byte) (*History, error) {
	var version struct{ Version int }
	if err := json.Unmarshal(text, &version); err != nil {
		return nil, &InputError{file, err.Error(), "fence lab shrink writes histories"}
	}
	if version.Version != Version {
		return nil, &InputError{file, fmt.Sprintf("it is of version %d of the lab, and this is version %d, which would play something else", version.Version, Version),
			"play it with the fence that wrote it, or search again: fence lab explore"}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var h History
	if err := d.Decode(&h); err != nil {
		return nil, &InputError{file, err.Error(), "fence lab shrink writes histories"}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, &InputError{file, "something follows the history", "write one object"}
	}
	if err := h.check(); err != nil {
		err.Where = file
		return nil, err
	}
	return &h, nil
}

func (h *History) check() *InputError {
	if h.Scenario == nil {
		return &InputError{Problem: "it has no scenario", Fix: "fence lab shrink writes histories"}
	}
	if err := h.Scenario.Check(); err != nil {
		return err
	}
	if _, err := LookupMutant(h.Mutant); err != nil {
		return &InputError{Problem: fmt.Sprintf("there is no mutant %q", h.Mutant), Fix: "fence lab list names them"}
	}
	workers := map[string]bool{}
	for _, w := range h.Scenario.Workers {
		workers[w.Name] = true
	}
	for i, f := range h.Faults {
		if err := f.check(workers, time.Duration(h.Scenario.Duration)); err != "" {
			return &InputError{Problem: fmt.Sprintf("fault %d: %s", i+1, err), Fix: "correct it, or leave it out"}
		}
	}
	for i, m := range h.Messages {
		if !workers[m.Worker] || m.Late < 0 {
			return &InputError{Problem: fmt.Sprintf("message fault %d is of worker %q and %v late", i+1, m.Worker, time.Duration(m.Late)), Fix: "correct it, or leave it out"}
		}
	}
	for name, ppm := range h.Clocks {
		if !workers[name] && name != storeName || ppm < -maxPPM || ppm > maxPPM {
			return &InputError{Problem: fmt.Sprintf("the clock of %q is %d ppm fast", name, ppm), Fix: "name a worker or coordinator, and at most 500000 ppm"}
		}
	}
	return nil
}

// Run plays the history.
func (h *History) Run(log bool) Result {
	m, err := LookupMutant(h.Mutant)
	if err != nil {
		m = none // check has refused it
	}
	return Run(h.Scenario, h.Seed, Options{Mutant: m, Schedule: &Schedule{Faults: h.Faults, Messages: h.Messages, Clocks: h.Clocks}, Log: log})
}

// breaks tells whether the history, played, breaks its invariant.
func (h *History) breaks() (at Time, ok bool) {
	r := h.Run(false)
	if r.Violation == nil || r.Violation.Invariant != h.Invariant {
		return 0, false
	}
	return r.Violation.At, true
}

// Shrink makes the history of a run that breaks an invariant as small as it can and still
// break it: fewer faults (by ddmin, Zeller and Hildebrandt 2002), an earlier start, shorter
// delays, fewer workers, better clocks, less work. It begins with the shortest of the run and
// of the next seeds' that break the same invariant, and tries at most budget runs; the result
// is the same on every machine. A run that breaks nothing is an error.
func Shrink(s *Scenario, seed uint64, o Options, budget int) (*History, error) {
	m := o.mutant(s)
	o.Log = false
	r := Run(s, seed, o)
	if r.Violation == nil {
		return nil, &InputError{s.Name, fmt.Sprintf("seed %d breaks no invariant", seed), "fence lab explore finds one that does"}
	}
	for other := seed + 1; other-seed < uint64(budget/2); other++ {
		if next := Run(s, other, o); next.Violation != nil && next.Violation.Invariant == r.Violation.Invariant && next.Events < r.Events {
			r = next
		}
	}
	o.Log = true
	r = Run(s, r.Seed, o)
	copied := *s
	// What it says of chance, and what the history has itself.
	copied.Script, copied.Profile, copied.Markers, copied.Breaks = nil, Profile{}, nil, nil
	h := &History{Version: Version, Scenario: &copied, Mutant: m.Name, Seed: r.Seed, Invariant: r.Violation.Invariant,
		Faults: r.Schedule.Faults, Messages: r.Schedule.Messages, Clocks: r.Schedule.Clocks}
	if _, ok := h.breaks(); !ok {
		return nil, fmt.Errorf("lab: the history of seed %d does not break %s when it is played again", r.Seed, h.Invariant)
	}
	k := &shrinker{best: h, budget: budget}
	for before := -1; before != k.size(); {
		before = k.size()
		k.cutOff()
		k.lessWork() // first: with all the faults there is more that can go wrong sooner
		k.fewer()
		k.earlier()
		k.shorter()
		k.workers()
		k.clocks()
	}
	return k.best, nil
}

type shrinker struct {
	best   *History
	budget int
}

// size is what shrinking makes smaller.
func (k *shrinker) size() int {
	n := len(k.best.Faults) + len(k.best.Messages) + len(k.best.Scenario.Workers) + int(time.Duration(k.best.Scenario.Duration)/time.Second)
	for _, ppm := range k.best.Clocks {
		if ppm != 0 {
			n++
		}
	}
	work := k.best.Scenario.Work
	n += int(time.Duration(work.For+work.Rest)/time.Second) - int(time.Duration(work.Every)/time.Second)
	for _, f := range k.best.Faults {
		n += int(time.Duration(f.For+f.By) / time.Second)
	}
	for _, m := range k.best.Messages {
		n += int(time.Duration(m.Late) / time.Second)
	}
	return n
}

// try keeps a changed copy of the best history if it still breaks the invariant.
func (k *shrinker) try(change func(*History)) bool {
	if k.budget <= 0 {
		return false
	}
	k.budget--
	h := *k.best
	s := *h.Scenario
	h.Scenario = &s
	s.Workers = slices.Clone(s.Workers)
	h.Faults, h.Messages = slices.Clone(h.Faults), slices.Clone(h.Messages)
	clocks := make(map[string]int64, len(h.Clocks))
	for name, ppm := range h.Clocks {
		clocks[name] = ppm
	}
	h.Clocks = clocks
	change(&h)
	if h.check() != nil {
		return false
	}
	if _, ok := h.breaks(); !ok {
		return false
	}
	k.best = &h
	return true
}

// cutOff ends the run right after the violation.
func (k *shrinker) cutOff() {
	at, ok := k.best.breaks()
	if !ok {
		return
	}
	if at == Time(k.best.Scenario.Duration) { // it is judged at the end
		for k.try(func(h *History) {
			h.Scenario.Duration /= 2
			h.Scenario.Settle = min(h.Scenario.Settle, h.Scenario.Duration-1)
			h.Faults = slices.DeleteFunc(h.Faults, func(f Fault) bool { return f.At >= h.Scenario.Duration })
		}) {
		}
		return
	}
	k.try(func(h *History) {
		h.Scenario.Duration, h.Scenario.Settle = Duration(at+1), 0
		h.Faults = slices.DeleteFunc(h.Faults, func(f Fault) bool { return Time(f.At) > at })
	})
}

// fewer leaves out faults and message faults: ddmin, first large parts, then single ones.
func (k *shrinker) fewer() {
	for _, part := range []struct {
		n    func(*History) int
		drop func(h *History, from, to int)
	}{
		{func(h *History) int { return len(h.Faults) }, func(h *History, from, to int) { h.Faults = slices.Delete(h.Faults, from, to) }},
		{func(h *History) int { return len(h.Messages) }, func(h *History, from, to int) { h.Messages = slices.Delete(h.Messages, from, to) }},
	} {
		for size := part.n(k.best); size >= 1; size /= 2 {
			for from := 0; from < part.n(k.best); {
				to := min(from+size, part.n(k.best))
				if !k.try(func(h *History) { part.drop(h, from, to) }) {
					from = to
				}
			}
		}
	}
}

// earlier leaves out the time before the first fault.
func (k *shrinker) earlier() {
	for d := Time(k.best.Scenario.Duration) / 2; d >= Time(time.Second); d /= 2 {
		k.try(func(h *History) { h.shift(d, 0) })
		// A renewal's two messages are in each interval of the holder's.
		every := Time(k.best.Scenario.Lease.RenewEvery)
		if every > 0 {
			k.try(func(h *History) { h.shift(d/every*every, uint64(2*(d/every))) })
		}
	}
}

// shift has everything happen d earlier, and message faults some messages earlier.
func (h *History) shift(d Time, messages uint64) {
	for i := range h.Faults {
		h.Faults[i].At = max(0, h.Faults[i].At-Duration(d))
	}
	for i := range h.Messages {
		if h.Messages[i].Message > messages {
			h.Messages[i].Message -= messages
		}
	}
}

// shorter halves how long faults last and how late messages are.
func (k *shrinker) shorter() {
	for i := range k.best.Faults {
		for k.best.Faults[i].For > Duration(time.Second) && k.try(func(h *History) { h.Faults[i].For /= 2 }) {
		}
		for k.best.Faults[i].By > Duration(time.Second) && k.try(func(h *History) { h.Faults[i].By /= 2 }) {
		}
	}
	for i := range k.best.Messages {
		for k.best.Messages[i].Late > Duration(time.Second) && k.try(func(h *History) { h.Messages[i].Late /= 2 }) {
		}
	}
}

// workers leaves out workers.
func (k *shrinker) workers() {
	for i := 0; i < len(k.best.Scenario.Workers) && len(k.best.Scenario.Workers) > 1; {
		if !k.try(func(h *History) {
			name := h.Scenario.Workers[i].Name
			h.Scenario.Workers = slices.Delete(h.Scenario.Workers, i, i+1)
			h.Faults = slices.DeleteFunc(h.Faults, func(f Fault) bool { return f.Worker == name })
			h.Messages = slices.DeleteFunc(h.Messages, func(m MessageFault) bool { return m.Worker == name })
			delete(h.Clocks, name)
		}) {
			i++
		}
	}
}

// lessWork has the work take less time, and write less often.
func (k *shrinker) lessWork() {
	for k.best.Scenario.Work.For > Duration(time.Second) && k.try(func(h *History) { h.Scenario.Work.For /= 2 }) {
	}
	for k.best.Scenario.Work.Every < Duration(20*time.Second) && k.try(func(h *History) { h.Scenario.Work.Every *= 2 }) {
	}
	for k.best.Scenario.Work.Rest > Duration(time.Second) && k.try(func(h *History) { h.Scenario.Work.Rest /= 2 }) {
	}
}

// clocks has clocks go right.
func (k *shrinker) clocks() {
	var names []string
	for name, ppm := range k.best.Clocks {
		if ppm != 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		k.try(func(h *History) { delete(h.Clocks, name) })
	}
}
