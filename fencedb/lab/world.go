package lab

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/fencelint/fence/fencedb/protocol"
)

// world is a run.
type world struct {
	s      *Scenario
	m      *Mutant
	rules  *protocol.Rules
	q      queue
	now    Time
	quiet  Time // from when on nothing goes wrong; the end without Settle
	nodes  []node
	store  store
	res    resource
	msgs   []message
	free   []int32
	faults []Fault
	keep   *Schedule // only these faults happen; nil: all that the seed draws
	p      Profile   // as the seed drew it

	trace    func(Entry)
	msgID    uint64
	events   uint64
	fates    []MessageFault // that happened, if they are wanted
	record   bool
	restores bool // the resource's past may come back
	actions  []protocol.Action

	judge judge
}

// node is a worker's process.
type node struct {
	id       int32
	name     string
	clock    clock
	h        protocol.Holder
	net      *rand.PCG // what becomes of its messages
	chance   *rand.PCG // everything else that is its own
	messages uint64    // how many it has sent or been sent
	life     int32     // which of its lives this is: a crash begins another

	wake     Time  // when its timer is for
	wakes    int32 // counts them
	waiting  [ops]request
	serial   int32
	grants   int
	grant    string
	token    int64
	renewed  protocol.StoreTime
	until    Time // its validity in true time, as last told
	valid    bool
	still    Time   // it does nothing until then
	cuts     [3]int // requests, replies, writes
	writesAt Time   // when a cut of its writes ends
	slow     Time   // by how much replies to it are slower

	holding  bool // wants the lease, or has it
	working  bool
	told     bool // to stop
	workEnds Time
	wToken   int64 // what the work writes with
	wGrant   string
	wRow     int
	wCount   int
	paused   Time // the longest it stood still since its grant
}

// newWorld makes a run. Everything in it follows from its arguments.
func newWorld(s *Scenario, m *Mutant, rules *protocol.Rules, seed uint64, keep *Schedule, trace func(Entry)) *world {
	w := &world{s: s, m: m, rules: rules, quiet: Time(s.Duration - s.Settle), keep: keep, trace: trace, record: trace != nil}
	draw := stream(seed, 0, 0)
	w.p = drawProfile(s.Profile, draw)
	w.store = newStore(s)
	w.store.clock.ppm = drawPPM(w.p.ClockPPM, draw)
	for i, worker := range s.Workers {
		// By its name, so that it keeps its randomness when others are left out.
		h := fnv.New32a()
		h.Write([]byte(worker.Name))
		n := node{id: int32(i), name: worker.Name, net: stream(seed, 1, uint64(h.Sum32())), chance: stream(seed, 2, uint64(h.Sum32()))}
		n.clock = clock{shows: int64(time.Hour) * int64(i+1), ppm: worker.PPM + drawPPM(w.p.ClockPPM, draw)}
		w.nodes = append(w.nodes, n)
	}
	if keep != nil {
		w.faults = keep.Faults
		w.store.clock.ppm = keep.Clocks[storeName]
		for i := range w.nodes {
			w.nodes[i].clock.ppm = keep.Clocks[w.nodes[i].name]
		}
	} else {
		w.faults = append(slices.Clone(s.Script), drawFaults(s, w.p, stream(seed, 3, 0))...)
	}
	w.restores = slices.ContainsFunc(w.faults, func(f Fault) bool { return f.Kind == Resource })
	w.judge.begin(w)
	for i := range w.nodes {
		w.q.push(happening{at: Time(s.Workers[i].Begin), kind: begin, node: int32(i)})
	}
	for i, f := range w.faults {
		w.q.push(happening{at: Time(f.At), kind: faultOn, arg: int32(i)})
	}
	return w
}

// stream returns the randomness of one concern, and of one worker.
func stream(seed, concern, worker uint64) *rand.PCG {
	return rand.NewPCG(seed, concern<<32|worker+1)
}

// chanceOf draws a number from 0 to 1.
func chanceOf(r *rand.PCG) float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// upTo draws a time from 0 to d.
func upTo(r *rand.PCG, d Time) Time {
	if d <= 0 {
		return 0
	}
	return Time(r.Uint64() % uint64(d))
}

func drawPPM(bound int64, r *rand.PCG) int64 {
	if bound == 0 {
		return 0
	}
	return int64(r.Uint64()%uint64(2*bound+1)) - bound
}

// run plays until the end, or until an invariant does not hold.
func (w *world) run() {
	end := Time(w.s.Duration)
	for {
		h, ok := w.q.pop()
		if !ok || h.at > end {
			w.now = end
			break
		}
		w.now = h.at
		w.events++
		w.happen(h)
		if w.judge.violation != nil {
			return
		}
	}
	w.judge.finish(w)
}

func (w *world) happen(h happening) {
	switch h.kind {
	case faultOn:
		w.faultOn(int(h.arg))
		return
	case faultOff:
		w.faultOff(int(h.arg))
		return
	case applyLate:
		w.res.applyLate(w, h.arg)
		return
	case deliver:
		if !w.msgs[h.arg].reply {
			w.arrive(h.arg)
			return
		}
	}
	n := &w.nodes[h.node]
	if w.now < n.still { // it will, when it goes on
		h.at = n.still
		w.q.push(h)
		return
	}
	switch h.kind {
	case begin:
		w.begin(n)
	case wakeNode:
		if h.arg == n.wakes { // else another time was planned since
			n.wake = 0
			w.step(n, protocol.Event{Kind: protocol.Tick})
		}
	case timeout:
		w.giveUp(n, op(h.arg&7), h.arg>>3)
	case workStep:
		if h.arg == n.life {
			w.work(n)
		}
	case deliver:
		w.answered(n, h.arg)
	}
}

// begin has a worker want the lease.
func (w *world) begin(n *node) {
	if n.holding {
		return // a crash has begun it already
	}
	n.holding = true
	l := w.s.lease(int(n.id))
	n.h = protocol.Holder{HolderConfig: protocol.HolderConfig{Timing: w.m.timing(l), Wait: true, Guards: w.s.Guard == ScopeGuard && !w.m.noRaise,
		Abort: l.Abort, RetryEvery: time.Duration(l.TTL) / 60, Poll: time.Duration(l.TTL) / 5}}
	n.token, n.grant = 0, ""
	w.newGrant(n)
	w.step(n, protocol.Event{Kind: protocol.Start})
}

func (w *world) newGrant(n *node) {
	n.grants++
	n.grant = n.name + "-" + strconv.Itoa(n.grants)
}

// step takes an event into a worker's holder.
func (w *world) step(n *node, e protocol.Event) {
	e.Now = n.clock.instant(w.now)
	e.Random = uint16(n.chance.Uint64())
	before, deadline := n.h.State, n.h.Deadline
	w.actions = w.rules.Step(&n.h, e, w.actions[:0])
	if w.trace != nil && n.h.State != before {
		w.trace(Entry{At: w.now, Kind: EntryState, Who: n.name, Result: n.h.State.String(), Note: e.Kind.String(), Token: n.token})
	}
	for i := range w.actions {
		w.perform(n, w.actions[i])
	}
	if n.h.Deadline != deadline || n.valid != n.h.Valid(e.Now) {
		w.validity(n, e.Now)
	}
	w.arm(n)
}

// validity tells of a lease that has become valid, or for longer, or is no longer.
func (w *world) validity(n *node, now protocol.Instant) {
	n.valid = n.h.Valid(now)
	if !n.valid {
		if w.trace != nil {
			w.trace(Entry{At: w.now, Kind: EntryOver, Who: n.name, Token: n.token})
		}
		return
	}
	if w.trace != nil {
		n.until = n.clock.when(w.now, int64(n.h.Deadline))
		w.trace(Entry{At: w.now, Kind: EntryValid, Who: n.name, Token: n.token, Until: n.until})
	}
	w.judge.valid(w, n)
}

// arm plans the worker's next tick.
func (w *world) arm(n *node) {
	next := n.h.NextWake()
	if next == 0 {
		n.wake = 0
		n.wakes++
		return
	}
	at := n.clock.when(w.now, int64(next))
	if at == n.wake {
		return
	}
	n.wake = at
	n.wakes++
	w.q.push(happening{at: at, kind: wakeNode, node: n.id, arg: n.wakes})
}

func (w *world) perform(n *node, a protocol.Action) {
	switch a.Kind {
	case protocol.SendAcquire:
		if a.Fresh {
			w.newGrant(n)
		}
		w.request(n, opAcquire, a)
	case protocol.SendRaise:
		w.request(n, opRaise, a)
	case protocol.SendRenew:
		w.request(n, opRenew, a)
	case protocol.SendRelease:
		w.judge.releases(w, n)
		w.request(n, opRelease, a)
	case protocol.CancelRequests:
		n.waiting[opAcquire].active, n.waiting[opRaise].active, n.waiting[opRenew].active = false, false, false
	case protocol.StartWork:
		w.startWork(n)
	case protocol.CancelWork:
		n.told = true
	case protocol.ReportRunning:
		w.judge.mark(workStillRunning)
	case protocol.Finish:
		w.finished(n)
	}
}

// finished has the worker want the lease again, after a rest.
func (w *world) finished(n *node) {
	n.wake = 0
	if n.h.Reason != protocol.NotLost {
		w.judge.lost(n.h.Reason)
	}
	n.holding, n.valid = false, false
	if w.s.Work.Rest > 0 {
		w.q.push(happening{at: w.now + Time(w.s.Work.Rest) + upTo(n.chance, Time(w.s.Work.Rest)), kind: begin, node: n.id})
	}
}

func (w *world) startWork(n *node) {
	n.working, n.told = true, false
	n.wToken, n.wGrant, n.wRow, n.wCount = n.token, n.grant, 0, 0
	n.workEnds = 0
	if w.s.Work.For > 0 {
		n.workEnds = w.now + Time(w.s.Work.For)
	}
	w.judge.begun(w, n)
	w.q.push(happening{at: w.now + Time(w.s.Work.Every), kind: workStep, node: n.id, arg: n.life})
}

// work does the next thing of the work: it writes, or returns.
func (w *world) work(n *node) {
	if !n.working {
		return
	}
	deaf := chanceOf(n.chance) < w.s.Work.Deaf
	over := n.workEnds > 0 && w.now >= n.workEnds
	if n.told && !deaf || over {
		n.working = false
		if n.h.Working {
			w.step(n, protocol.Event{Kind: protocol.WorkReturned})
		}
		return
	}
	instant := n.clock.instant(w.now)
	if least := w.s.Work.Least; least == 0 || !n.h.Uncertain && n.h.Valid(instant) && n.h.Deadline.Sub(instant) >= time.Duration(least) {
		w.write(n)
	}
	w.q.push(happening{at: w.now + Time(w.s.Work.Every), kind: workStep, node: n.id, arg: n.life})
}

func (w *world) write(n *node) {
	n.wCount++
	m := message{op: opWrite, from: n.id, life: n.life, token: n.wToken, grant: n.wGrant, row: n.wRow, name: w.s.Work.Operation}
	if m.name == "" && w.trace != nil {
		m.name = fmt.Sprintf("write %d", n.wCount)
	}
	w.judge.begins(w, n, time.Duration(w.s.Work.Least))
	if w.s.Work.Rows > 0 {
		n.wRow = (n.wRow + 1) % w.s.Work.Rows
	}
	if old := w.s.Workers[n.id].Old; old > 0 && chanceOf(n.chance) < old {
		m.token, m.grant = 0, ""
	}
	m.valid = n.h.Valid(n.clock.instant(w.now)) && n.h.State == protocol.Held
	if w.trace != nil {
		w.trace(Entry{At: w.now, Kind: EntryWrite, Who: n.name, Token: m.token, WriteReceipt: &WriteReceipt{Resource: w.s.Resource, Operation: m.name,
			Owner: n.name, Token: m.token, RenewalTime: n.renewed.Time(), Pause: time.Duration(n.paused), Valid: m.valid}})
	}
	w.judge.presented++
	w.send(n, m)
}
