package lab

import (
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

func scenarios(t testing.TB) []*Scenario {
	t.Helper()
	all, err := Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// seeds is how many a test plays: a twentieth of n with -short, as under the race detector.
func seeds(n uint64) uint64 {
	if testing.Short() {
		return n / 20
	}
	return n
}

// The rules that are shipped hold in every scenario, and each scenario shows what it is for.
// A baseline breaks what it says it does.
func TestScenariosHold(t *testing.T) {
	for _, s := range scenarios(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			r := Explore(s, 1, seeds(1000), Options{}, 1)
			switch {
			case r.First == nil && len(s.Breaks) > 0 && !testing.Short():
				t.Errorf("%d seeds break nothing, want %v", r.Seeds, s.Breaks)
			case r.First != nil && len(s.Breaks) == 0:
				t.Errorf("seed %d: %+v", r.First.Seed, *r.First.Violation)
			case r.First != nil && r.First.Violation.Invariant != s.Breaks[0]:
				t.Errorf("seed %d breaks %s, want %v", r.First.Seed, r.First.Violation.Invariant, s.Breaks)
			}
			if m := Missing(s, r.Marks); len(m) > 0 && !testing.Short() {
				t.Errorf("vacuous: no seed met %v", m)
			}
		})
	}
}

// A seed plays the same, whether it is watched or not, and on any number of cores.
func TestSameSeedSameBytes(t *testing.T) {
	all := scenarios(t)
	play := func() string {
		var b strings.Builder
		for i := range seeds(1000) {
			s := all[i%uint64(len(all))]
			r := Run(s, 1000+i, Options{Log: i%50 == 0})
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(text)
			if i%50 == 0 {
				quiet := Run(s, 1000+i, Options{})
				if quiet.Events != r.Events || quiet.Marks != r.Marks || !reflect.DeepEqual(quiet.Violation, r.Violation) {
					t.Errorf("%s, seed %d plays differently when it is watched", s.Name, 1000+i)
				}
			}
		}
		return b.String()
	}
	first := play()
	for _, n := range []int{1, 2} {
		old := runtime.GOMAXPROCS(n)
		again := play()
		runtime.GOMAXPROCS(old)
		if again != first {
			t.Fatalf("another log with GOMAXPROCS %d", n)
		}
	}
	s := all[len(all)-1]
	one, two := Explore(s, 5, 700, Options{}, 1), Explore(s, 5, 700, Options{}, 2)
	if !reflect.DeepEqual(one, two) {
		t.Error("Explore reports something else on two goroutines")
	}
}

// A history plays what the run that it was made of played.
func TestHistoryPlaysTheRunAgain(t *testing.T) {
	for _, s := range scenarios(t) {
		for seed := range uint64(5) {
			r := Run(s, seed, Options{Log: true})
			again := Run(s, seed, Options{Log: true, Schedule: &r.Schedule})
			// Requests that do not leave are not in a history.
			if s.Profile.NotSent > 0 {
				continue
			}
			if r.Events != again.Events || len(r.Log) != len(again.Log) {
				t.Errorf("%s, seed %d: %d events, %d when played again", s.Name, seed, r.Events, again.Events)
			}
		}
	}
}

const good = `{"name":"x","title":"","about":"","start":"2026-07-20T20:00:00Z","duration":"60s","resource":"a","guard":"scope",
"lease":{"ttl":"15s","renew_every":"5s","attempt_timeout":"3s","margin":"1s","drift":0.05},
"workers":[{"name":"a"},{"name":"b"}],"work":{"every":"1s"},"profile":{}}`

func TestBadScenarios(t *testing.T) {
	if _, err := ParseScenario("x.json", []byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ from, to, want string }{
		{`{"name"`, `["name"`, "invalid character"},
		{`"name":"x"`, `"nome":"x"`, "unknown field"},
		{`"name":"x"`, `"name":""`, "no name"},
		{`"profile":{}}`, `"profile":{}} {}`, "something follows"},
		{`"duration":"60s"`, `"duration":"-60s"`, "duration is -1m0s"},
		{`"duration":"60s"`, `"duration":"60"`, "no duration"},
		{`"duration":"60s"`, `"duration":"60s","settle":"61s"`, "settle"},
		{`"resource":"a"`, `"resource":""`, "nothing is held"},
		{`"scope"`, `"fence"`, `guard is "fence"`},
		{`"ttl":"15s"`, `"ttl":"5s"`, "lengthen the TTL"},
		{`"ttl":"15s"`, `"ttl":"1ms"`, "ttl of 1ms"},
		{`"profile":{}`, `"profile":{"every":{"pause":"1ms"},"lasts":{"pause":"1s"}}`, "profile.every.pause is 1ms"},
		{`"every":"1s"`, `"every":"1us"`, "every 1µs"},
		{`"name":"b"`, `"name":"a"`, `a worker is called "a"`},
		{`"name":"b"`, `"name":"coordinator"`, `a worker is called "coordinator"`},
		{`"every":"1s"`, `"every":"0s"`, "negative time, or none"},
		{`"every":"1s"`, `"every":"1s","deaf":2`, "work.deaf"},
		{`"profile":{}`, `"profile":{},"script":[{"at":"1s","kind":"nap"}]`, `there is no fault "nap"`},
		{`"profile":{}`, `"profile":{},"script":[{"at":"-1s","kind":"break"}]`, "not within the run"},
		{`"profile":{}`, `"profile":{},"script":[{"at":"1s","kind":"pause","worker":"z","for":"1s"}]`, "a worker of the scenario"},
		{`"profile":{}`, `"profile":{},"script":[{"at":"1s","kind":"pause","worker":"a"}]`, "it lasts some time"},
		{`"profile":{}`, `"profile":{},"script":[{"at":"1s","kind":"pause","worker":"a","for":"5s"},{"at":"2s","kind":"freeze","worker":"a","for":"5s"}]`, "contradict"},
		{`"profile":{}`, `"profile":{"late":1.5}`, "profile.late"},
		{`"profile":{}`, `"profile":{"late":0.5}`, "late by 0s"},
		{`"profile":{}`, `"profile":{"every":{"pause":"1m"}}`, "no time for pause"},
		{`"profile":{}`, `"profile":{"every":{"nap":"1m"}}`, `no fault "nap"`},
		{`"profile":{}`, `"profile":{},"mutant":"x"`, `no mutant "x"`},
		{`"profile":{}`, `"profile":{},"breaks":["x"]`, `no invariant "x"`},
		{`"profile":{}`, `"profile":{},"markers":["x"]`, `no marker "x"`},
	} {
		_, err := ParseScenario("x.json", []byte(strings.Replace(good, test.from, test.to, 1)))
		var bad *InputError
		if !errors.As(err, &bad) || bad.Where != "x.json" || bad.Fix == "" || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.to, err, test.want)
		}
	}
	if _, err := Lookup("nothing"); err == nil || !strings.Contains(err.Error(), "orders-daily") {
		t.Errorf("unknown scenario: %v", err)
	}
	if _, err := LookupMutant("nothing"); err == nil || !strings.Contains(err.Error(), "unfenced") {
		t.Errorf("unknown mutant: %v", err)
	}
	if _, err := ParseSeed("-1"); err == nil {
		t.Error("a negative seed")
	}
}

func TestBadHistories(t *testing.T) {
	text := `{"version":1,"scenario":` + good + `,"seed":3,"faults":[{"at":"1s","kind":"pause","worker":"a","for":"1s"}]}`
	if _, err := ParseHistory("h.json", []byte(text)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ from, to, want string }{
		{`"version":1`, `"version":0`, "it is of version 0 of the lab, and this is version 1"},
		{`"version":1`, `"version":2`, "version 2"},
		{`"seed":3`, `"seed":-3`, "cannot unmarshal"},
		{`"seed":3`, `"seed":3,"mutant":"x"`, `no mutant "x"`},
		{`"seed":3`, `"seed":3,"clocks":{"z":1}`, `the clock of "z"`},
		{`"seed":3`, `"seed":3,"messages":[{"worker":"z","message":1}]`, `worker "z"`},
		{`"at":"1s"`, `"at":"1h"`, "not within the run"},
		{`"scenario":` + good, `"scenario":null`, "no scenario"},
	} {
		_, err := ParseHistory("h.json", []byte(strings.Replace(text, test.from, test.to, 1)))
		var bad *InputError
		if !errors.As(err, &bad) || bad.Where != "h.json" || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.to, err, test.want)
		}
	}
}

// Whatever is written, a scenario or a history is refused or can be played.
func FuzzParse(f *testing.F) {
	f.Add(good)
	f.Add(`{"version":1,"scenario":` + good + `,"seed":3}`)
	f.Fuzz(func(_ *testing.T, text string) {
		if s, err := ParseScenario("x.json", []byte(text)); err == nil && quick(s) {
			Run(s, 1, Options{Log: true})
		}
		if h, err := ParseHistory("h.json", []byte(text)); err == nil && quick(h.Scenario) {
			h.Run(true)
		}
	})
}

// quick tells whether a scenario has few events.
func quick(s *Scenario) bool {
	return s.Duration < Duration(2*time.Minute) && s.Work.Every > Duration(100*time.Millisecond) && s.Lease.RenewEvery > Duration(100*time.Millisecond) && s.Lease.AttemptTimeout > Duration(100*time.Millisecond)
}
