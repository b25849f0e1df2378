package lab

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fencelint/fence/fencedb/protocol"
)

// A Duration is a time.Duration that JSON holds as "1m30s".
type Duration time.Duration

// MarshalText writes the duration as time.Duration does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is no duration such as 1m30s", text)
	}
	*d = Duration(v)
	return nil
}

// A Scenario is who takes part in a run, and what may go wrong.
type Scenario struct {
	Name     string    `json:"name"`
	Title    string    `json:"title"`
	About    string    `json:"about"`
	Start    time.Time `json:"start"`    // what the store's clock shows at the start
	Duration Duration  `json:"duration"` // of a run
	Settle   Duration  `json:"settle,omitempty"`
	Resource string    `json:"resource"`
	Lease    Lease     `json:"lease"`
	Guard    GuardKind `json:"guard"`
	Counter  int64     `json:"counter,omitempty"`     // the last token before the run
	Commits  int64     `json:"transaction,omitempty"` // the last grant's transaction before the run
	Workers  []Worker  `json:"workers"`
	Work     Work      `json:"work"`
	Script   []Fault   `json:"script,omitempty"`
	Profile  Profile   `json:"profile"`
	Mutant   string    `json:"mutant,omitempty"`  // a rule that is broken in this scenario
	Breaks   []string  `json:"breaks,omitempty"`  // the invariants that it breaks, some seed or other
	Markers  []string  `json:"markers,omitempty"` // what some seed has to have met
}

// Lease is how the workers hold.
type Lease struct {
	TTL            Duration `json:"ttl"`
	RenewEvery     Duration `json:"renew_every"`
	AttemptTimeout Duration `json:"attempt_timeout"`
	Margin         Duration `json:"margin"`
	Drift          float64  `json:"drift"` // the bound that they count with
	LockDelay      Duration `json:"lock_delay,omitempty"`
	Abort          bool     `json:"abort_on_ambiguity,omitempty"`
}

func (l Lease) timing() protocol.Timing {
	return protocol.Timing{TTL: time.Duration(l.TTL), RenewEvery: time.Duration(l.RenewEvery), AttemptTimeout: time.Duration(l.AttemptTimeout),
		Margin: time.Duration(l.Margin), Drift: int64(l.Drift * 1e6)}
}

// A GuardKind is how the resource compares tokens.
type GuardKind string

// The kinds of guards.
const (
	ScopeGuard GuardKind = "scope" // one guard, raised before the work
	RowGuard   GuardKind = "row"   // each row has the largest token that wrote it
	NoGuard    GuardKind = "none"
)

// A Worker is a process that wants the lease.
type Worker struct {
	Name  string   `json:"name"`
	Begin Duration `json:"begin,omitempty"` // when it first wants it
	PPM   int64    `json:"ppm,omitempty"`   // how fast its clock is
	Lease *Lease   `json:"lease,omitempty"` // how it holds, if otherwise than the others: a configuration that was not rolled out
	Old   float64  `json:"old,omitempty"`   // part of its writes that carry no token: an old client
}

// lease is how a worker holds.
func (s *Scenario) lease(worker int) Lease {
	if l := s.Workers[worker].Lease; l != nil {
		return *l
	}
	return s.Lease
}

// longest is the longest TTL of any worker, and its lock-delay.
func (s *Scenario) longest() (ttl, lockDelay time.Duration) {
	for i := range s.Workers {
		l := s.lease(i)
		ttl, lockDelay = max(ttl, time.Duration(l.TTL)), max(lockDelay, time.Duration(l.LockDelay))
	}
	return ttl, lockDelay
}

// Work is what a holder does.
type Work struct {
	Every     Duration `json:"every"`               // from one write to the next
	For       Duration `json:"for,omitempty"`       // how long it goes on; until it is stopped if 0
	Rest      Duration `json:"rest,omitempty"`      // from the end to when the worker wants the lease again; never if 0
	Rows      int      `json:"rows,omitempty"`      // that it writes in turn
	Operation string   `json:"operation,omitempty"` // what receipts call a write
	Deaf      float64  `json:"deaf,omitempty"`      // how often it writes once more although it was told to stop
	Least     Duration `json:"least,omitempty"`     // no write starts with less of the lease left
}

// A FaultKind is what goes wrong.
type FaultKind string

// The faults. Each lasts For and is of Worker, unless it says otherwise.
const (
	Pause       FaultKind = "pause"            // the process stands still, its clock does not
	Suspend     FaultKind = "suspend"          // the system stands still, and knows
	Freeze      FaultKind = "freeze"           // the machine and its clocks stand still: a hypervisor's pause
	CutRequests FaultKind = "cut-requests"     // nothing it sends to the coordinator arrives
	CutReplies  FaultKind = "cut-replies"      // nothing the coordinator answers arrives
	CutWrites   FaultKind = "cut-writes"       // what it sends to the resource waits, and arrives in the end
	SlowReplies FaultKind = "slow-replies"     // the coordinator's answers take By longer
	ClockRate   FaultKind = "clock-rate"       // its clock is PPM fast
	StoreRate   FaultKind = "store-rate"       // of the store
	StoreDown   FaultKind = "store-down"       // of the store
	Failover    FaultKind = "failover"         // of the store, at once: another that lags By takes over, and is known to be another
	Restore     FaultKind = "restore"          // of the store, at once: it is what it was By ago, and an operator advances it
	StoreAhead  FaultKind = "store-ahead"      // of the store, at once: its clock is set By ahead
	StoreBehind FaultKind = "store-behind"     // of the store, at once: its clock is set By back
	Resource    FaultKind = "resource-restore" // of the resource, at once: it is what it was By ago, and an operator raises its guard
	Break       FaultKind = "break"            // of the store, at once: an operator breaks the lease
	Stop        FaultKind = "stop"             // the worker is told that the lease is not wanted, at once
	Crash       FaultKind = "crash"            // the worker dies, and starts again after For
)

// faultKinds are the faults, and what each needs.
var faultKinds = map[FaultKind]struct{ worker, lasts, by, ppm bool }{
	Pause:       {worker: true, lasts: true},
	Suspend:     {worker: true, lasts: true},
	Freeze:      {worker: true, lasts: true},
	CutRequests: {worker: true, lasts: true},
	CutReplies:  {worker: true, lasts: true},
	CutWrites:   {worker: true, lasts: true},
	SlowReplies: {worker: true, lasts: true, by: true},
	ClockRate:   {worker: true, lasts: true, ppm: true},
	StoreRate:   {lasts: true, ppm: true},
	StoreDown:   {lasts: true},
	Failover:    {by: true},
	Restore:     {by: true},
	StoreAhead:  {by: true},
	StoreBehind: {by: true},
	Resource:    {by: true},
	Break:       {},
	Stop:        {worker: true},
	Crash:       {worker: true, lasts: true},
}

// A Fault goes wrong at a time.
type Fault struct {
	At     Duration  `json:"at"`
	Kind   FaultKind `json:"kind"`
	Worker string    `json:"worker,omitempty"`
	For    Duration  `json:"for,omitempty"`
	By     Duration  `json:"by,omitempty"`
	PPM    int64     `json:"ppm,omitempty"`
}

// A Profile is how often what goes wrong by chance. A seed also draws which of it is on, and
// how hard: a run with few kinds of faults goes further than one with all.
type Profile struct {
	Late      float64                `json:"late,omitempty"`      // part of the messages that are late
	LateBy    Duration               `json:"late_by,omitempty"`   // by up to this
	Lost      float64                `json:"lost,omitempty"`      // part that is lost
	Twice     float64                `json:"twice,omitempty"`     // part that arrives twice
	NotSent   float64                `json:"not_sent,omitempty"`  // part of the requests that do not leave
	ClockPPM  int64                  `json:"clock_ppm,omitempty"` // clocks are off by up to this
	Every     map[FaultKind]Duration `json:"every,omitempty"`     // how often each fault comes, on average
	LastsUpTo map[FaultKind]Duration `json:"lasts,omitempty"`     // how long it lasts, at most
	ByUpTo    map[FaultKind]Duration `json:"by,omitempty"`        // by how much, at most
}

// An InputError says what is wrong with a scenario, a history or a name, and how to write it.
type InputError struct {
	Where   string // the file, or what was named
	Problem string
	Fix     string
}

// Error says all three.
func (e *InputError) Error() string { return e.Where + ": " + e.Problem + ": " + e.Fix }

//go:embed scenarios/*.json
var files embed.FS

// Scenarios returns the scenarios of the lab, sorted by name.
func Scenarios() ([]*Scenario, error) {
	entries, err := files.ReadDir("scenarios")
	if err != nil {
		return nil, fmt.Errorf("reading the scenarios: %w", err)
	}
	var all []*Scenario
	for _, e := range entries {
		text, err := files.ReadFile(path.Join("scenarios", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading a scenario: %w", err)
		}
		s, err := ParseScenario(e.Name(), text)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *Scenario) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Lookup returns the scenario with a name. An unknown one is an [*InputError] that lists those
// that there are.
func Lookup(name string) (*Scenario, error) {
	all, err := Scenarios()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return nil, &InputError{name, "there is no such scenario", "there are " + strings.Join(names, ", ")}
}

// ParseScenario reads a scenario and checks it. Errors are [*InputError]s that name file.
func ParseScenario(file string, text []byte) (*Scenario, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var s Scenario
	if err := d.Decode(&s); err != nil {
		return nil, &InputError{file, err.Error(), "the scenarios in fencedb/lab/scenarios show what there is"}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, &InputError{file, "something follows the scenario", "write one object"}
	}
	if err := s.Check(); err != nil {
		err.Where = file
		return nil, err
	}
	return &s, nil
}

// maxWorkers and the others keep a run within bounds.
const (
	maxWorkers  = 16
	maxDuration = 30 * 24 * time.Hour
	maxPPM      = 500_000
	maxRows     = 1000
	shortest    = Duration(time.Millisecond)
)

// Check returns what is wrong with a scenario, nil if nothing is.
func (s *Scenario) Check() *InputError {
	bad := func(fix, format string, args ...any) *InputError {
		return &InputError{s.Name, fmt.Sprintf(format, args...), fix}
	}
	switch {
	case s.Name == "":
		return bad("write its name", "the scenario has no name")
	case s.Duration <= 0 || time.Duration(s.Duration) > maxDuration:
		return bad("write a duration from 1ns to 720h", "duration is %v", time.Duration(s.Duration))
	case s.Settle < 0 || s.Settle >= s.Duration:
		return bad("it is the end of the run, without faults", "settle is %v of %v", time.Duration(s.Settle), time.Duration(s.Duration))
	case s.Resource == "":
		return bad("write resource", "nothing is held")
	case s.Guard != ScopeGuard && s.Guard != RowGuard && s.Guard != NoGuard:
		return bad("write scope, row or none", "guard is %q", s.Guard)
	case len(s.Workers) == 0 || len(s.Workers) > maxWorkers:
		return bad("write 1 to 16 workers", "there are %d workers", len(s.Workers))
	case s.Counter < 0 || s.Commits < 0:
		return bad("write a number from 0", "a counter is negative")
	case s.Work.Every <= 0 || s.Work.For < 0 || s.Work.Rest < 0 || s.Work.Least < 0 || s.Work.Rows < 0:
		return bad("write durations that are not negative, and every", "the work takes a negative time, or none")
	case s.Work.Every < shortest || s.Work.Rest > 0 && s.Work.Rest < shortest || s.Work.Rows > maxRows:
		return bad("write 1ms or more, and at most 1000 rows", "the work writes every %v, rests %v, and has %d rows", time.Duration(s.Work.Every), time.Duration(s.Work.Rest), s.Work.Rows)
	case s.Work.Deaf < 0 || s.Work.Deaf > 1:
		return bad("write a part from 0 to 1", "work.deaf is %v", s.Work.Deaf)
	}
	for i := range s.Workers {
		if err := s.lease(i).check(); err != "" {
			return bad("change the lease", "%s", err)
		}
	}
	names := map[string]bool{}
	for _, w := range s.Workers {
		if w.Name == "" || names[w.Name] || w.Name == storeName || w.Name == resourceName {
			return bad("give each worker a name of its own", "a worker is called %q", w.Name)
		}
		if w.Old < 0 || w.Old > 1 {
			return bad("write a part from 0 to 1", "worker %s is old by %v", w.Name, w.Old)
		}
		if w.Begin < 0 || w.PPM < -maxPPM || w.PPM > maxPPM {
			return bad("write a begin from 0 and a ppm of at most 500000", "worker %s begins at %v, %d ppm fast", w.Name, time.Duration(w.Begin), w.PPM)
		}
		names[w.Name] = true
	}
	for i, f := range s.Script {
		if err := f.check(names, time.Duration(s.Duration)); err != "" {
			return bad("fence lab show "+s.Name+" prints the script", "fault %d: %s", i+1, err)
		}
	}
	if err := contradiction(s.Script); err != "" {
		return bad("let one end before the next begins", "%s", err)
	}
	if s.Mutant != "" {
		if _, err := LookupMutant(s.Mutant); err != nil {
			return bad("fence lab list names them", "there is no mutant %q", s.Mutant)
		}
	}
	for _, name := range s.Breaks {
		if !slices.ContainsFunc(Invariants, func(i Invariant) bool { return i.Name == name }) {
			return bad("docs/invariants.md lists them", "there is no invariant %q", name)
		}
	}
	for _, name := range s.Markers {
		if !slices.ContainsFunc(Markers[:], func(m Marker) bool { return m.Name == name }) {
			return bad("fence lab list names them", "there is no marker %q", name)
		}
	}
	if err := s.Profile.check(); err != "" {
		return bad("write parts from 0 to 1, times from 0, and 1s or more for every", "%s", err)
	}
	return nil
}

func (l Lease) check() string {
	switch {
	case l.TTL < 100*shortest || l.RenewEvery < shortest || l.AttemptTimeout < shortest:
		return fmt.Sprintf("a lease has a ttl of %v, renew_every %v and attempt_timeout %v; the first is 100ms or more, the others 1ms",
			time.Duration(l.TTL), time.Duration(l.RenewEvery), time.Duration(l.AttemptTimeout))
	case l.LockDelay < 0:
		return fmt.Sprintf("lock_delay is %v", time.Duration(l.LockDelay))
	}
	if err := l.timing().Check(); err != nil {
		return err.Error()
	}
	return ""
}

func (f Fault) check(workers map[string]bool, whole time.Duration) string {
	needs, ok := faultKinds[f.Kind]
	switch {
	case !ok:
		return fmt.Sprintf("there is no fault %q", f.Kind)
	case f.At < 0 || time.Duration(f.At) >= whole:
		return fmt.Sprintf("%s at %v is not within the run", f.Kind, time.Duration(f.At))
	case needs.worker != (f.Worker != "") || needs.worker && !workers[f.Worker]:
		return fmt.Sprintf("%s of worker %q: %s", f.Kind, f.Worker, want(needs.worker, "a worker of the scenario", "it is of the store"))
	case f.For < 0 || needs.lasts != (f.For > 0):
		return fmt.Sprintf("%s for %v: %s", f.Kind, time.Duration(f.For), want(needs.lasts, "it lasts some time", "it is over at once"))
	case f.By < 0 || !needs.by && f.By != 0:
		return fmt.Sprintf("%s by %v: %s", f.Kind, time.Duration(f.By), want(needs.by, "it is not negative", "it takes none"))
	case !needs.ppm && f.PPM != 0 || f.PPM < -maxPPM || f.PPM > maxPPM:
		return fmt.Sprintf("%s with %d ppm", f.Kind, f.PPM)
	}
	return ""
}

func want(needs bool, yes, no string) string {
	if needs {
		return yes
	}
	return no
}

// contradiction finds two faults that say different things of one thing at one time.
func contradiction(script []Fault) string {
	for i, a := range script {
		for _, b := range script[i+1:] {
			same := a.Worker == b.Worker && (a.Kind == b.Kind || still[a.Kind] && still[b.Kind])
			if same && a.At < b.At+max(b.For, 1) && b.At < a.At+max(a.For, 1) {
				return fmt.Sprintf("%s at %v and %s at %v contradict each other", a.Kind, time.Duration(a.At), b.Kind, time.Duration(b.At))
			}
		}
	}
	return ""
}

// still are the faults in which a process does nothing.
var still = map[FaultKind]bool{Pause: true, Suspend: true, Freeze: true, Crash: true}

func (p Profile) check() string {
	for name, part := range map[string]float64{"late": p.Late, "lost": p.Lost, "twice": p.Twice, "not_sent": p.NotSent} {
		if part < 0 || part > 1 {
			return fmt.Sprintf("profile.%s is %v", name, part)
		}
	}
	if p.LateBy < 0 || p.Late > 0 && p.LateBy == 0 || p.ClockPPM < 0 || p.ClockPPM > maxPPM {
		return fmt.Sprintf("profile: late by %v, clocks off by %d ppm", time.Duration(p.LateBy), p.ClockPPM)
	}
	for kind, every := range p.Every {
		needs, ok := faultKinds[kind]
		switch {
		case !ok:
			return fmt.Sprintf("profile.every: there is no fault %q", kind)
		case every < Duration(time.Second):
			return fmt.Sprintf("profile.every.%s is %v", kind, time.Duration(every))
		case needs.lasts && p.LastsUpTo[kind] <= 0:
			return fmt.Sprintf("profile.lasts has no time for %s", kind)
		case needs.by && p.ByUpTo[kind] <= 0:
			return fmt.Sprintf("profile.by has nothing for %s", kind)
		}
	}
	for _, more := range []map[FaultKind]Duration{p.LastsUpTo, p.ByUpTo} {
		for kind := range more {
			if p.Every[kind] == 0 {
				return fmt.Sprintf("profile says how long %s lasts and not how often it comes", kind)
			}
		}
	}
	return ""
}
