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

type op uint8

const (
	opAcquire op = iota
	opRenew
	opRelease
	opRaise
	opWrite
	ops
)

var opNames = [ops]string{"acquire", "renew", "release", "raise", "write"}

// request is one that waits for its answer.
type request struct {
	serial  int32
	attempt int
	sent    protocol.Instant
	active  bool
}

// message is a request or its answer.
type message struct {
	op      op
	reply   bool
	from    int32 // whose request it is, or answers
	life    int32
	serial  int32
	attempt int
	id      uint64
	sent    protocol.Instant
	sentAt  Time
	token   int64
	grant   string
	row     int
	name    string // of a write's operation
	answer  protocol.Answer
	seen    protocol.Comparison
	ttl     time.Duration
	retryIn time.Duration
	drawn   int64 // a token that a mutant drew before the lock
	at      protocol.StoreTime
	valid   bool
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

// request sends one that waits for an answer.
func (w *world) request(n *node, o op, a protocol.Action) {
	n.serial++
	n.waiting[o] = request{serial: n.serial, attempt: a.Attempt, sent: a.Sent, active: true}
	m := message{op: o, from: n.id, life: n.life, serial: n.serial, attempt: a.Attempt, sent: a.Sent, token: n.token, grant: n.grant}
	if w.notSent(n, o) {
		m.reply, m.answer = true, answerNotSent
		w.reply(n, w.message(m), 0)
		return
	}
	w.q.push(happening{at: n.clock.elapsed(w.now, a.Timeout), kind: timeout, node: n.id, arg: n.serial<<3 | int32(o)})
	w.send(n, m)
}

// answerNotSent is what a worker tells itself.
const answerNotSent protocol.Answer = -1

// notSent draws whether a request to the coordinator leaves.
func (w *world) notSent(n *node, o op) bool {
	if o != opAcquire && o != opRenew {
		return false
	}
	c := chanceOf(n.chance)
	return w.keep == nil && w.now < w.quiet && c < w.p.NotSent
}

// giveUp has a request run into its timeout: its answer is not known.
func (w *world) giveUp(n *node, o op, serial int32) {
	r := &n.waiting[o]
	if !r.active || r.serial != serial {
		return
	}
	r.active = false
	e := protocol.Event{Attempt: r.attempt, Sent: r.sent}
	switch o {
	case opAcquire:
		e.Kind = protocol.AcquireUnknown
	case opRenew:
		e.Kind = protocol.RenewUnknown
	case opRelease:
		e.Kind = protocol.ReleaseFailed
	case opRaise:
		e.Kind = protocol.RaiseFailed
	}
	w.step(n, e)
}

// answered takes an answer in.
func (w *world) answered(n *node, id int32) {
	m := w.msgs[id]
	w.drop(id)
	if m.life != n.life {
		return
	}
	if w.trace != nil && m.answer != answerNotSent {
		w.trace(Entry{At: w.now, Kind: EntryArrive, Who: n.name, Peer: peer(m.op), Op: opNames[m.op], Msg: m.id, Token: m.token, Result: m.result()})
	}
	if m.op == opWrite {
		return
	}
	r := &n.waiting[m.op]
	late := !r.active || r.serial != m.serial
	if late && (m.op != opRenew || m.answer != protocol.Yes || m.grant != n.grant) {
		return
	}
	if !late {
		r.active = false
	} else {
		w.judge.mark(lateAnswer)
	}
	e := protocol.Event{Attempt: m.attempt, Sent: m.sent, TTL: m.ttl, RetryIn: m.retryIn, Repeated: m.answer == protocol.Repeated}
	e.Kind, e.Reason = eventOf(m)
	if m.op == opAcquire && e.Kind == protocol.AcquireGranted {
		n.token, n.renewed, n.paused = m.token, m.at, 0
	}
	if m.op == opRenew && e.Kind == protocol.RenewOK {
		n.renewed = m.at
	}
	w.step(n, e)
}

// eventOf is what an answer means to a holder.
func eventOf(m message) (protocol.EventKind, protocol.Reason) {
	switch m.op {
	case opRaise:
		if m.seen == protocol.Current {
			return protocol.RaiseDone, 0
		}
		return protocol.RaiseRefused, 0
	case opAcquire:
		switch m.answer {
		case answerNotSent:
			return protocol.AcquireNotSent, 0
		case protocol.Yes, protocol.Repeated:
			return protocol.AcquireGranted, 0
		case protocol.No, protocol.NoQuarantined:
			return protocol.AcquireBusy, 0
		}
		return protocol.AcquireOver, 0
	}
	yes, no := protocol.RenewOK, protocol.RenewNo
	if m.op == opRelease {
		yes, no = protocol.ReleaseOK, protocol.ReleaseNo
	}
	switch m.answer {
	case answerNotSent:
		return protocol.RenewNotSent, 0
	case protocol.Yes, protocol.Repeated:
		return yes, 0
	case protocol.NoExpired:
		return no, protocol.LostExpired
	case protocol.NoReleased, protocol.NoBroken:
		return no, protocol.LostReleased
	}
	return no, protocol.LostSuperseded
}

// result names an answer in the log.
func (m message) result() string {
	if m.op == opRaise || m.op == opWrite {
		return comparisonNames[m.seen]
	}
	return answerNames[m.answer]
}

var answerNames = map[protocol.Answer]string{protocol.Yes: "yes", protocol.Repeated: "yes, again", protocol.No: "held", protocol.NoExpired: "expired",
	protocol.NoReleased: "released", protocol.NoBroken: "broken", protocol.NoSuperseded: "superseded", protocol.NoQuarantined: "quarantined", answerNotSent: "not sent"}

var comparisonNames = map[protocol.Comparison]string{protocol.Current: "accepted", protocol.Stale: "stale", protocol.NotGranted: "not_granted", protocol.Conflict: "conflict"}

func peer(o op) string {
	if o == opRaise || o == opWrite {
		return resourceName
	}
	return storeName
}

// message keeps a message and returns its number.
func (w *world) message(m message) int32 {
	if n := len(w.free); n > 0 {
		id := w.free[n-1]
		w.free = w.free[:n-1]
		w.msgs[id] = m
		return id
	}
	w.msgs = append(w.msgs, m)
	return int32(len(w.msgs) - 1)
}

func (w *world) drop(id int32) {
	w.msgs[id].grant, w.msgs[id].name = "", ""
	w.free = append(w.free, id)
}

// fate is what becomes of a message.
type fate struct {
	lost, twice bool
	late        Time
	travels     Time
}

// draw decides what becomes of the worker's next message. It draws the same whatever comes
// of it, so that a fault that is left out changes nothing else of the worker's.
func (w *world) draw(n *node) (f fate, number uint64) {
	n.messages++
	a, b, c := n.net.Uint64(), n.net.Uint64(), n.net.Uint64()
	f.travels = Time(time.Millisecond) + Time(a%uint64(9*time.Millisecond))
	part := float64(b>>11) / (1 << 53)
	switch p := w.p; {
	case w.now >= w.quiet:
	case part < p.Lost:
		f.lost = true
	case part < p.Lost+p.Late:
		f.late = Time(c % uint64(p.LateBy))
	case part < p.Lost+p.Late+p.Twice:
		f.twice = true
	}
	if w.keep != nil {
		kept, _ := w.keep.of(n.name, n.messages)
		f.lost, f.late, f.twice = kept.Lost, Time(kept.Late), kept.Twice
	}
	return f, n.messages
}

// send has a request travel.
func (w *world) send(n *node, m message) {
	f, number := w.draw(n)
	w.msgID++
	m.id, m.sentAt = w.msgID, w.now
	if w.trace != nil {
		w.trace(Entry{At: w.now, Kind: EntrySend, Who: n.name, Peer: peer(m.op), Op: opNames[m.op], Msg: m.id, Token: m.token})
	}
	cut := n.cuts[0] > 0 && peer(m.op) == storeName
	w.note(n, number, f)
	if f.lost || cut {
		w.lose(n.name, peer(m.op), m)
		if m.op == opRenew {
			w.judge.mark(ambiguousLost)
		}
		return
	}
	at := w.now + f.travels + f.late
	if n.cuts[2] > 0 && peer(m.op) == resourceName {
		at = max(at, n.writesAt+f.travels)
	}
	w.q.push(happening{at: at, kind: deliver, node: n.id, arg: w.message(m)})
	if f.twice {
		w.q.push(happening{at: at + f.travels, kind: deliver, node: n.id, arg: w.message(m)})
	}
}

func (w *world) lose(from, to string, m message) {
	if w.trace != nil {
		w.trace(Entry{At: w.now, Kind: EntryLoss, Who: from, Peer: to, Op: opNames[m.op], Msg: m.id, Token: m.token})
	}
}

// note keeps a message's fault, for the history.
func (w *world) note(n *node, number uint64, f fate) {
	if w.record && (f.lost || f.twice || f.late > 0) {
		w.fates = append(w.fates, MessageFault{Worker: n.name, Message: number, Lost: f.lost, Twice: f.twice, Late: Duration(f.late)})
	}
}

// back has an answer travel.
func (w *world) back(n *node, m message) {
	f, number := w.draw(n)
	m.reply = true
	w.msgID++
	m.id = w.msgID
	if w.trace != nil {
		w.trace(Entry{At: w.now, Kind: EntrySend, Who: peer(m.op), Peer: n.name, Op: opNames[m.op], Msg: m.id, Token: m.token, Result: m.result()})
	}
	w.note(n, number, f)
	if f.lost || n.cuts[1] > 0 && peer(m.op) == storeName {
		w.lose(peer(m.op), n.name, m)
		if m.op == opRenew && m.answer == protocol.Yes {
			w.judge.mark(ambiguousApplied)
		}
		return
	}
	after := f.travels + f.late
	if peer(m.op) == storeName {
		after += n.slow
	}
	w.reply(n, w.message(m), after)
}

func (w *world) reply(n *node, id int32, after Time) {
	w.q.push(happening{at: w.now + after, kind: deliver, node: n.id, arg: id})
}

// arrive has a request arrive at the coordinator, or at the resource.
func (w *world) arrive(id int32) {
	m := w.msgs[id]
	n := &w.nodes[m.from]
	if w.trace != nil && m.drawn == 0 {
		w.trace(Entry{At: w.now, Kind: EntryArrive, Who: peer(m.op), Peer: n.name, Op: opNames[m.op], Msg: m.id, Token: m.token})
	}
	if peer(m.op) == resourceName {
		w.drop(id)
		w.res.decide(w, n, m)
		return
	}
	w.drop(id)
	if w.store.down > 0 {
		w.lose(storeName, n.name, m)
		return
	}
	w.store.serve(w, n, m)
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
