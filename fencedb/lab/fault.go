package lab

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fencelint/fence/fencedb/protocol"
)

// A Schedule is exactly what goes wrong in a run: nothing else does.
type Schedule struct {
	Faults   []Fault
	Messages []MessageFault
	Clocks   map[string]int64 // how fast each worker's is, and the coordinator's, in parts per million

	index map[messageKey]int
}

// A MessageFault is what became of a worker's message: the Message-th that it sent or was sent.
type MessageFault struct {
	Worker  string   `json:"worker"`
	Message uint64   `json:"message"`
	Lost    bool     `json:"lost,omitempty"`
	Twice   bool     `json:"twice,omitempty"`
	Late    Duration `json:"late,omitempty"`
}

type messageKey struct {
	worker string
	number uint64
}

// of returns the fault of a message, if it has one.
func (s *Schedule) of(worker string, number uint64) (MessageFault, bool) {
	if s.index == nil {
		s.index = make(map[messageKey]int, len(s.Messages))
		for i, m := range s.Messages {
			s.index[messageKey{m.Worker, m.Message}] = i
		}
	}
	i, ok := s.index[messageKey{worker, number}]
	if !ok {
		return MessageFault{}, false
	}
	return s.Messages[i], true
}

// drawProfile draws which of what may go wrong does in this run, and how hard: a part of the
// rates the scenario gives, or nothing.
func drawProfile(p Profile, r *rand.PCG) Profile {
	hard := func(part float64) float64 {
		on, how := chanceOf(r) < 0.6, chanceOf(r)
		if !on {
			return 0
		}
		return part * how
	}
	p.Late, p.Lost, p.Twice, p.NotSent = hard(p.Late), hard(p.Lost), hard(p.Twice), hard(p.NotSent)
	if clocks := chanceOf(r); clocks < 0.25 {
		p.ClockPPM = 0
	}
	return p
}

// drawFaults plans the faults of a run.
func drawFaults(s *Scenario, p Profile, r *rand.PCG) []Fault {
	var kinds []FaultKind
	for kind := range p.Every {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	until := Time(s.Duration - s.Settle)
	var all []Fault
	for _, kind := range kinds {
		on, hard := chanceOf(r) < 0.6, 0.25+chanceOf(r)
		if !on {
			continue
		}
		for at := Time(0); ; {
			at += upTo(r, 2*Time(float64(p.Every[kind])/hard))
			if at >= until {
				break
			}
			f := Fault{At: Duration(at), Kind: kind}
			needs := faultKinds[kind]
			if needs.worker {
				f.Worker = s.Workers[r.Uint64()%uint64(len(s.Workers))].Name
			}
			if needs.lasts {
				f.For = Duration(min(1+upTo(r, Time(p.LastsUpTo[kind])), until-at))
			}
			if needs.by {
				f.By = Duration(upTo(r, Time(p.ByUpTo[kind])))
			}
			if needs.ppm {
				f.PPM = drawPPM(p.ClockPPM, r)
			}
			all = append(all, f)
		}
	}
	return all
}

// faultOn has a fault begin.
func (w *world) faultOn(i int) {
	f := w.faults[i]
	if w.trace != nil {
		who := f.Worker
		switch {
		case f.Kind == Resource:
			who = resourceName
		case who == "":
			who = storeName
		}
		w.trace(Entry{At: w.now, Kind: EntryFault, Who: who, Op: string(f.Kind), Until: w.now + Time(f.For), Note: f.detail()})
	}
	n := w.worker(f.Worker)
	faultEffects[f.Kind].on(w, n, f)
	if f.For > 0 {
		w.q.push(happening{at: w.now + Time(f.For), kind: faultOff, arg: int32(i)})
	}
}

func (f Fault) detail() string {
	switch {
	case f.By > 0:
		return time.Duration(f.By).String()
	case f.PPM != 0:
		return percent(f.PPM)
	}
	return ""
}

func (w *world) faultOff(i int) {
	f := w.faults[i]
	if off := faultEffects[f.Kind].off; off != nil {
		off(w, w.worker(f.Worker), f)
	}
}

func (w *world) worker(name string) *node {
	for i := range w.nodes {
		if w.nodes[i].name == name {
			return &w.nodes[i]
		}
	}
	return nil
}

// effect is what a fault does when it begins and when it ends.
type effect struct {
	on, off func(w *world, n *node, f Fault)
}

var faultEffects = map[FaultKind]effect{
	Pause: {on: (*world).standStill},
	Suspend: {on: (*world).standStill, off: func(w *world, n *node, _ Fault) {
		if w.now >= n.still && n.holding {
			w.step(n, protocol.Event{Kind: protocol.ClockJumped})
		}
	}},
	Freeze: {
		on: func(w *world, n *node, f Fault) {
			w.standStill(n, f)
			n.clock.change(w.now, func(c *clock) { c.still = true })
			w.judge.unbounded = true // no clock of its own shows it
		},
		off: func(w *world, n *node, _ Fault) {
			n.clock.change(w.now, func(c *clock) { c.still = false })
			w.arm(n)
		},
	},
	CutRequests: cut(0),
	CutReplies:  cut(1),
	CutWrites: {
		on: func(w *world, n *node, f Fault) {
			n.cuts[2]++
			n.writesAt = max(n.writesAt, w.now+Time(f.For))
		},
		off: func(_ *world, n *node, _ Fault) { n.cuts[2]-- },
	},
	SlowReplies: {
		on:  func(_ *world, n *node, f Fault) { n.slow += Time(f.By) },
		off: func(_ *world, n *node, f Fault) { n.slow -= Time(f.By) },
	},
	ClockRate: {
		on:  func(w *world, n *node, f Fault) { w.rate(&n.clock, f.PPM); w.arm(n) },
		off: func(w *world, n *node, f Fault) { w.rate(&n.clock, -f.PPM); w.arm(n) },
	},
	StoreRate: {
		on:  func(w *world, _ *node, f Fault) { w.rate(&w.store.clock, f.PPM) },
		off: func(w *world, _ *node, f Fault) { w.rate(&w.store.clock, -f.PPM) },
	},
	StoreDown: {
		on:  func(w *world, _ *node, _ Fault) { w.store.down++ },
		off: func(w *world, _ *node, _ Fault) { w.store.down-- },
	},
	Failover:    {on: func(w *world, _ *node, f Fault) { w.store.failover(w, Time(f.By)) }},
	Restore:     {on: func(w *world, _ *node, f Fault) { w.store.restore(w, Time(f.By)) }},
	StoreAhead:  {on: func(w *world, _ *node, f Fault) { w.store.step(w, Time(f.By)) }},
	StoreBehind: {on: func(w *world, _ *node, f Fault) { w.store.step(w, -Time(f.By)) }},
	Resource:    {on: func(w *world, _ *node, f Fault) { w.res.restore(w, Time(f.By)) }},
	Break:       {on: func(w *world, _ *node, _ Fault) { w.store.end(w) }},
	Stop: {on: func(w *world, n *node, _ Fault) {
		if n.working {
			n.told = true
		}
		if n.holding {
			w.step(n, protocol.Event{Kind: protocol.StopAsked})
		}
	}},
	Crash: {on: (*world).crash},
}

func cut(i int) effect {
	return effect{
		on:  func(_ *world, n *node, _ Fault) { n.cuts[i]++ },
		off: func(_ *world, n *node, _ Fault) { n.cuts[i]-- },
	}
}

// standStill has a process do nothing. What it misses happens when it goes on, in order.
func (w *world) standStill(n *node, f Fault) {
	n.still = max(n.still, w.now+Time(f.For))
	n.paused = max(n.paused, Time(f.For))
	if n.valid {
		w.judge.mark(pausedHolder)
	}
}

// rate has a clock go faster, and notes if that is beyond the bound the workers count with.
func (w *world) rate(c *clock, ppm int64) {
	c.change(w.now, func(c *clock) { c.ppm += ppm })
	if c.ppm > w.judge.drift || c.ppm < -w.judge.drift {
		w.judge.unbounded = true
	}
}

// crash has a process die and start again. It forgets everything.
func (w *world) crash(n *node, f Fault) {
	n.life++
	n.h, n.waiting, n.wake = protocol.Holder{}, [ops]request{}, 0
	n.wakes++
	n.holding, n.working, n.valid = false, false, false
	n.still = max(n.still, w.now+Time(f.For))
	if w.trace != nil {
		w.trace(Entry{At: w.now, Kind: EntryOver, Who: n.name, Token: n.token, Note: "crash"})
	}
	w.q.push(happening{at: n.still, kind: begin, node: n.id})
}
