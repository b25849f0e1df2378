package protocol

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var config = HolderConfig{
	Timing: Timing{TTL: 15 * time.Second, RenewEvery: 5 * time.Second, AttemptTimeout: 3 * time.Second, Margin: time.Second, Drift: 50_000},
	Wait:   true, RetryEvery: 250 * time.Millisecond, Poll: 3 * time.Second,
}

// Whatever happens, and in whatever order, a holder keeps to what Hold promises; and every
// rule of the table is for something that can happen.
func TestHolderKeepsItsPromises(t *testing.T) {
	hits := make([]int, len(holderTable))
	index := map[string]int{}
	counted := HolderRules()
	for i := range counted {
		do := counted[i].Do
		count := Effect{"count", func(_ *Holder, _ *Event, out []Action) []Action { hits[i]++; return out }}
		counted[i].Do = append([]Effect{count}, do...)
		index[counted[i].On.String()] = i
	}
	rules := NewRules(counted)
	histories := uint64(20_000)
	if testing.Short() {
		histories = 3000
	}
	for seed := range histories {
		play(t, rules, rand.New(rand.NewPCG(seed, 2)), seed)
	}
	for i, n := range hits {
		if r := holderTable[i]; n == 0 {
			t.Errorf("no run had the rule %v, %v, if %q", r.From, r.On, r.If.Name)
		}
	}
}

func play(t *testing.T, rules *Rules, random *rand.Rand, seed uint64) {
	h := Holder{HolderConfig: config}
	h.Guards, h.Abort, h.Wait = random.IntN(2) == 0, random.IntN(4) == 0, random.IntN(4) > 0
	now := Instant(1)
	var finished, started, released, working bool
	var lastSent []Action // requests whose answers may come, also late and in any order
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("seed %d: "+format+"\n%+v", append(append([]any{seed}, args...), h)...)
	}
	step := func(e Event) {
		e.Now, e.Random = now, uint16(random.Uint32())
		before := h
		actions := rules.Step(&h, e, nil)
		if finished && (len(actions) > 0 || h.State != before.State || h.Reason != before.Reason || h.Deadline != before.Deadline) {
			fail("%v does something after the end: %v", e.Kind, actions)
		}
		if h.Deadline < before.Deadline {
			fail("%v moves the deadline back by %v", e.Kind, before.Deadline.Sub(h.Deadline))
		}
		if h.Deadline > before.Deadline && e.Kind != RenewOK && e.Kind != AcquireGranted {
			fail("%v moves the deadline on", e.Kind)
		}
		if e.Kind == RenewOK && h.Deadline > before.Deadline && h.Deadline != h.Timing.Deadline(e.Sent, e.TTL) {
			fail("the deadline does not count from when the renewal was sent")
		}
		if before.Ended && h.Valid(now) || before.Deadline != 0 && now >= before.Deadline && before.State == Held && h.Valid(now) {
			fail("%v makes a lease valid again", e.Kind)
		}
		for _, a := range actions {
			switch a.Kind {
			case StartWork:
				if started || now >= h.Deadline || h.Uncertain || !h.Raised {
					fail("%v starts the work: started %v, %v left", e.Kind, started, h.Deadline.Sub(now))
				}
				started, working = true, true
			case SendRenew:
				if before.State == Draining || before.State == Lost || released {
					fail("%v renews what is given up", e.Kind)
				}
				lastSent = append(lastSent, a)
			case SendAcquire, SendRaise:
				lastSent = append(lastSent, a)
			case SendRelease:
				if working && e.Kind != WorkReturned {
					fail("%v releases while the work runs", e.Kind)
				}
				if released || h.Valid(now) {
					fail("%v releases what is valid, or released", e.Kind)
				}
				released = true
				lastSent = append(lastSent, a)
			case Finish:
				if working && e.Kind != WorkReturned && e.Kind != WorkPanicked {
					fail("%v finishes while the work runs", e.Kind)
				}
				finished = true
			case CancelWork:
				if !working {
					fail("%v cancels work that does not run", e.Kind)
				}
			}
			if a.Timeout < 0 || a.Timeout > h.AttemptTimeout {
				fail("the timeout of %v is %v", a.Kind, a.Timeout)
			}
		}
		if e.Kind == WorkReturned || e.Kind == WorkPanicked {
			working = false
		}
	}
	step(Event{Kind: Start})
	for range 60 {
		now = now.Add(time.Duration(random.IntN(3000)) * time.Millisecond)
		if random.IntN(20) == 0 {
			now = now.Add(time.Duration(random.IntN(20)) * time.Second) // it stood still
		}
		switch n := random.IntN(10); {
		case n < 6 && len(lastSent) > 0:
			i := random.IntN(len(lastSent))
			a := lastSent[i]
			lastSent = append(lastSent[:i], lastSent[i+1:]...)
			kinds := answers[a.Kind]
			e := Event{Kind: kinds[random.IntN(len(kinds))], Attempt: a.Attempt, Sent: a.Sent, TTL: h.TTL, Repeated: random.IntN(3) == 0,
				RetryIn: time.Duration(random.IntN(15)) * time.Second}
			if e.Kind == RenewNo || e.Kind == ReleaseNo {
				e.Reason = []Reason{LostExpired, LostSuperseded, LostReleased}[random.IntN(3)]
			}
			step(e)
		case n < 8:
			step(Event{Kind: Tick})
		case random.IntN(6) == 0:
			step(Event{Kind: []EventKind{StopAsked, ClockJumped}[random.IntN(2)]})
		case working && random.IntN(8) == 0:
			step(Event{Kind: []EventKind{WorkReturned, WorkReturned, WorkReturned, WorkPanicked}[random.IntN(4)]})
		}
		if next := h.NextWake(); next != 0 && next <= now {
			step(Event{Kind: Tick})
		}
	}
}

var answers = map[ActionKind][]EventKind{
	SendAcquire: {AcquireGranted, AcquireGranted, AcquireGranted, AcquireGranted, AcquireBusy, AcquireOver, AcquireNotSent, AcquireRefused, AcquireUnknown},
	SendRaise:   {RaiseDone, RaiseDone, RaiseDone, RaiseRefused, RaiseFailed},
	SendRenew:   {RenewOK, RenewOK, RenewOK, RenewOK, RenewNo, RenewNotSent, RenewUnknown},
	SendRelease: {ReleaseOK, ReleaseNo, ReleaseFailed},
}

var update = flag.Bool("update", false, "write what the tests print into the documentation")

// docs/renewal.md shows the table that the code follows.
func TestRenewalPage(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "renewal.md")
	text, err := os.ReadFile(page)
	if os.IsNotExist(err) {
		t.Skip("the module was downloaded without the repository's docs: run it in a clone of the repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	for _, part := range []struct{ name, text string }{
		{"diagram", "```mermaid\n" + Diagram(holderTable) + "```\n"},
		{"table", Table(holderTable)},
	} {
		begin, end := "<!-- "+part.name+": printed from fencedb/protocol -->\n", "<!-- end of "+part.name+" -->\n"
		i, j := strings.Index(want, begin), strings.Index(want, end)
		if i < 0 || j < i {
			t.Fatalf("%s has no %q", page, begin)
		}
		want = want[:i+len(begin)] + part.text + want[j:]
	}
	if want == string(text) {
		return
	}
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s does not show the rules: go test ./fencedb/protocol -update writes them", page)
}

func BenchmarkStep(b *testing.B) {
	b.ReportAllocs()
	h := Holder{HolderConfig: config}
	now := Instant(1)
	actions := holderRules.Step(&h, Event{Kind: Start, Now: now}, nil)
	actions = holderRules.Step(&h, Event{Kind: AcquireGranted, Now: now, Sent: now, TTL: h.TTL}, actions[:0])
	for b.Loop() {
		now = now.Add(5 * time.Second)
		actions = holderRules.Step(&h, Event{Kind: Tick, Now: now}, actions[:0])
		actions = holderRules.Step(&h, Event{Kind: RenewOK, Attempt: h.Attempt, Now: now, Sent: now, TTL: h.TTL}, actions[:0])
	}
	if h.State != Held {
		b.Fatal(h.State)
	}
}
