package lab

import (
	"time"

	"github.com/fencelint/fence/fencedb/protocol"
)

// resource is what is written: the guard of production, and what was written.
type resource struct {
	guard protocol.Guard
	rows  []protocol.Guard // of a row guard

	versions []guardVersion // of the past, for what comes back

	late    []message // that a mutant has checked and not applied
	applied int       // of those
}

// guardVersion is what the guard knew once.
type guardVersion struct {
	at    Time
	guard protocol.Guard
}

// restore has the resource be what it was. An operator raises its guard to the namespace's
// newest grant, before anybody writes.
func (r *resource) restore(w *world, age Time) {
	var was protocol.Guard
	for _, v := range r.versions {
		if v.at <= w.now-age {
			was = v.guard
		}
	}
	if was != r.guard {
		w.judge.mark(resourceRestored)
	}
	r.guard = was
	if !w.m.resourceOnly {
		r.guard, _ = r.guard.Raise(w.judge.newest.Value, w.judge.newest.GrantID)
	}
	r.versions = append(r.versions, guardVersion{w.now, r.guard})
}

// decide compares a write, or a raise, with the guard.
func (r *resource) decide(w *world, n *node, m message) {
	expected := r.guard.Value
	if m.op == opWrite {
		w.judge.reached++
	}
	if m.op == opRaise {
		r.guard, m.seen = r.guard.Raise(m.token, m.grant)
		if w.restores {
			r.versions = append(r.versions, guardVersion{w.now, r.guard})
		}
		w.judge.decided(w, n, m)
		w.told(n, m, expected)
		w.back(n, m)
		return
	}
	switch {
	case w.m.unfenced || w.s.Guard == NoGuard:
		m.seen = protocol.Current
	case m.token == 0: // as a client that knows of none would have it
		m.seen = protocol.Stale
	case w.s.Guard == RowGuard || w.m.noRaise:
		expected, m.seen = r.row(w, m)
	default:
		m.seen = r.guard.Compare(m.token, m.grant)
	}
	if w.m.checkThenApply && m.seen == protocol.Current {
		r.late = append(r.late, m)
		w.q.push(happening{at: w.now + upTo(n.chance, Time(2*time.Second)), kind: applyLate, arg: int32(len(r.late) - 1)})
		return
	}
	if !w.m.silent || m.seen == protocol.Current {
		w.judge.decided(w, n, m)
		w.told(n, m, expected)
	}
	w.judge.counted(w)
}

// row compares with the largest token that wrote the row, which is the write's own from then
// on. Equality alone (a mutant's) is what the first writer has for ever.
func (r *resource) row(w *world, m message) (expected int64, c protocol.Comparison) {
	for len(r.rows) <= m.row {
		r.rows = append(r.rows, protocol.Guard{})
	}
	g := &r.rows[m.row]
	expected = g.Value
	if w.m.equalOnly {
		if g.Value == 0 {
			*g = protocol.Guard{Value: m.token, GrantID: m.grant}
		}
		if c = g.Compare(m.token, m.grant); c == protocol.NotGranted {
			c = protocol.Stale
		}
		return expected, c
	}
	*g, c = g.Raise(m.token, m.grant)
	return expected, c
}

func (r *resource) applyLate(w *world, id int32) {
	m := r.late[id]
	r.applied++
	n := &w.nodes[m.from]
	w.judge.decided(w, n, m)
	w.told(n, m, r.guard.Value)
}

// told writes the decision's receipt.
func (w *world) told(n *node, m message, expected int64) {
	if w.trace == nil {
		return
	}
	result := comparisonNames[m.seen]
	if m.op == opRaise && m.seen == protocol.Current {
		result = "raised"
	}
	operation := m.name
	if m.op == opRaise {
		operation = "raise"
	}
	w.trace(Entry{At: w.now, Kind: EntryDecision, Who: resourceName, Peer: n.name, Op: opNames[m.op], Msg: m.id, Token: m.token, Result: result,
		DecisionReceipt: &DecisionReceipt{Resource: w.s.Resource, Operation: operation, Owner: n.name, Expected: expected, Received: m.token, Result: result}})
}
