package lab

import (
	"strconv"
	"time"

	"github.com/fencelint/fence/fencedb/protocol"
)

// store is the coordinator: the record and the counter of production, under a clock.
type store struct {
	record     protocol.Record
	counter    protocol.Allocator
	clock      clock
	down       int
	place      int
	quarantine protocol.StoreTime
	commits    int64
	versions   []version // of the past, for what falls behind
	noted      int64     // what the operator keeps elsewhere: the counter after the last restore
	advanced   Time      // when that was
}

// version is what the store was once.
type version struct {
	at      Time
	record  protocol.Record
	counter protocol.Allocator
}

// keptVersions bounds how much of the past can come back.
const keptVersions = 64

func newStore(s *Scenario) store {
	st := store{clock: clock{shows: s.Start.UnixNano()}, counter: protocol.Allocator{Counter: s.Counter, Place: "system/1"}, place: 1, commits: s.Commits}
	st.versions = []version{{0, st.record, st.counter}}
	return st
}

// commit keeps what the store has become.
func (st *store) commit(now Time) {
	if len(st.versions) == keptVersions {
		copy(st.versions, st.versions[1:])
		st.versions = st.versions[:keptVersions-1]
	}
	st.versions = append(st.versions, version{now, st.record, st.counter})
}

// ago has the store be what it was at t, or at the oldest moment that is kept.
func (st *store) ago(t Time) (lost bool) {
	v := st.versions[0]
	for _, next := range st.versions {
		if next.at <= t {
			v = next
		}
	}
	lost = v.record.Value != st.record.Value || v.record.Renewals != st.record.Renewals
	st.record, st.counter = v.record, v.counter
	return lost
}

// serve answers a request.
func (st *store) serve(w *world, n *node, m message) {
	now := st.clock.store(w.now)
	before := st.record
	switch m.op {
	case opAcquire:
		if m.drawn == 0 && w.m.drawEarly {
			// The number first, the lock later: in between others are granted.
			_, m.drawn, _ = st.counter.Next("", 0)
			st.counter, _, _ = st.counter.Next("", 0)
			w.q.push(happening{at: w.now + upTo(n.chance, Time(3*time.Second)), kind: deliver, node: n.id, arg: w.message(m)})
			return
		}
		st.acquire(w, n, &m, now)
	case opRenew:
		grant, value := m.grant, m.token
		if w.m.renewAny {
			grant, value = st.record.GrantID, st.record.Value
		}
		m.ttl = time.Duration(w.s.lease(int(n.id)).TTL)
		st.record, m.answer = st.record.Renew(now, grant, value, m.ttl)
	case opRelease:
		st.record, m.answer = st.record.Release(now, m.grant, m.token)
		if w.m.perLease && m.answer == protocol.Yes {
			st.record, st.counter.Counter = protocol.Record{}, w.s.Counter // the row is deleted, and its counter with it
		}
	}
	m.at = now
	w.judge.changed(w, m, before)
	if st.record != before {
		st.changed(w)
	}
	w.back(n, m)
}

// changed keeps what the store has become, and tells of it.
func (st *store) changed(w *world) {
	st.commit(w.now)
	if w.trace != nil && st.record.Value != 0 {
		w.trace(Entry{At: w.now, Kind: EntryLease, Who: st.record.Owner, Token: st.record.Value, Grant: st.record.GrantID, Result: string(st.record.End),
			Until: st.clock.when(w.now, int64(st.record.Expires)*1000)})
	}
}

func (st *store) acquire(w *world, n *node, m *message, now protocol.StoreTime) {
	l := w.s.lease(int(n.id))
	q := protocol.Request{GrantID: m.grant, Owner: n.name, TTL: time.Duration(l.TTL), LockDelay: time.Duration(l.LockDelay)}
	m.ttl = q.TTL
	m.answer = st.record.Acquire(now, q)
	if m.answer == protocol.Yes && now < st.quarantine {
		m.answer = protocol.NoQuarantined
		m.retryIn = st.quarantine.Sub(now)
		w.judge.mark(quarantined)
	}
	switch m.answer {
	case protocol.No:
		m.retryIn = st.record.FreeAt.Sub(now)
	case protocol.Repeated:
		m.token = st.record.Value
		w.judge.mark(repeated)
	case protocol.Yes:
		next, value, err := st.counter.Next(st.name(), 0)
		if err != nil {
			m.answer = protocol.No
			return
		}
		if m.drawn != 0 {
			value = m.drawn
		} else {
			st.counter = next
		}
		last := st.record
		var end protocol.End
		st.record, end = last.Grant(now, q, value)
		st.commits++
		m.token = value
		w.judge.granted(w, n, last, end, now)
		if w.trace == nil {
			return
		}
		r := &GrantReceipt{Resource: w.s.Resource, Owner: n.name, Token: value, CoordinatorTime: now.Time(), Transaction: "g_" + strconv.FormatInt(st.commits, 10)}
		if end != "" {
			r.Predecessor = &PredecessorReceipt{Token: last.Value, Owner: last.Owner, End: string(end), RenewalTime: last.Renewed.Time()}
		}
		w.trace(Entry{At: w.now, Kind: EntryGrant, Who: storeName, Peer: n.name, Token: value, Grant: m.grant, GrantReceipt: r})
	}
}

// failover has a store take over that lags: what it has not seen is lost. It is known to be
// another one, so the next grant begins an incarnation.
func (st *store) failover(w *world, lag Time) {
	st.place++
	// What an operator was told is done was acknowledged by the standby.
	if st.ago(max(w.now-lag, st.advanced)) {
		w.judge.mark(grantForgotten)
		w.judge.forgot, w.judge.unbounded = true, true // who was granted what was forgotten does not know
	}
	st.changed(w)
}

// restore has the store be what it was, and nothing shows it. An operator starts another
// incarnation, and has nothing granted while holders of forgotten grants may be at work.
func (st *store) restore(w *world, age Time) {
	if st.ago(w.now - age) {
		w.judge.mark(grantForgotten)
		// By a clock that was set back, what is forgotten ends later than the quarantine.
		w.judge.forgot = w.judge.forgot || w.judge.behind > 0
	}
	if !w.m.restoreOnly {
		// Above what the guards know, and above what the last such incident ended with,
		// which is kept elsewhere: this store has forgotten it.
		floor := max(w.res.guard.Value, st.noted)
		next, _, err := st.counter.Next("", floor)
		if err == nil {
			next, err = next.Anew()
		}
		if err == nil {
			st.counter, st.noted, st.advanced = next, next.Value(), w.now
		}
		ttl, lockDelay := w.s.longest()
		st.quarantine = st.clock.store(w.now).Add(protocol.Stretch(ttl, w.judge.drift) + lockDelay)
	}
	st.changed(w)
}

// name is the place where the store lives, as PostgreSQL would have it.
func (st *store) name() string { return "system/" + strconv.FormatInt(int64(st.place), 16) }

// step has the store's clock be set. Expiries are of that clock: a lease may end too soon, or
// last longer.
func (st *store) step(w *world, by Time) {
	st.clock.change(w.now, func(c *clock) { c.shows += int64(by) })
	w.judge.unbounded = true
	w.judge.behind += max(0, time.Duration(-by))
}

// end has an operator break the lease.
func (st *store) end(w *world) {
	now := st.clock.store(w.now)
	next, value, err := st.counter.Next(st.name(), 0)
	if err != nil {
		return
	}
	broken, a := st.record.Break(now, value, false)
	if a != protocol.Yes {
		return
	}
	st.record, st.counter = broken, next
	st.changed(w)
	w.judge.mark(leaseBroken)
}
