package lab

import (
	"time"

	"github.com/fencelint/fence/fencedb/protocol"
)

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
