package lab

import (
	"fmt"
	"time"

	"github.com/fencelint/fence/fencedb/protocol"
)

// An Invariant is a promise that a run is held to.
type Invariant struct {
	Name string
	Says string
	// Assumes says when it is promised; empty for always.
	Assumes string
}

// Invariants are the promises, as docs/invariants.md has them.
var Invariants = []Invariant{
	{Name: "tokens-increase", Says: "each token granted in a namespace is larger than every one granted before"},
	{Name: "accepted-in-order", Says: "the tokens of accepted writes never decrease, and equal ones are of one grant"},
	{Name: "raised", Says: "once a holder's work has started, nothing below its token is accepted", Assumes: "a scope guard"},
	{Name: "newest-accepted", Says: "a write with the newest token granted is not rejected"},
	{Name: "superseded-changes-nothing", Says: "a renewal or release of a grant that has ended leaves the coordinator's record as it is"},
	{Name: "released-after-work", Says: "no lease is released while its work runs"},
	{Name: "decisions-sum", Says: "each write that reached the resource was accepted or rejected, with a receipt"},
	{Name: "one-valid", Says: "at most one lease is valid at a time", Assumes: "clock rates keep to the bound, no hypervisor stops a clock, and no store forgets a grant"},
	{Name: "enough-left", Says: "no work starts with less of the lease left than it declared", Assumes: "as one-valid"},
	{Name: "lock-delay", Says: "nobody is granted what another's expiry and lock-delay still cover", Assumes: "no store that fails over forgets a grant, and none is restored whose clock was set back"},
	{Name: "progress", Says: "some time after the last fault somebody holds the lease", Assumes: "the scenario has a time to settle"},
}

// A Marker is something that has to have happened in a run, or in one of many, for them to
// have shown anything.
type Marker struct {
	Name string
	Says string
}

type markerID int

const (
	staleRejected markerID = iota
	conflictRejected
	ambiguousApplied
	ambiguousLost
	lateAnswer
	repeated
	takeover
	takeoverWhilePaused
	pausedHolder
	lostExpired
	lostUnreachable
	lostSuperseded
	lostReleased
	workStillRunning
	firstTouch
	quarantined
	grantForgotten
	newIncarnation
	handover
	leaseBroken
	missingRejected
	resourceRestored
	markerCount
)

// Markers are what can be met, in the order of a run's counts.
var Markers = [markerCount]Marker{
	{"stale-rejected", "a write of a former holder was rejected"},
	{"conflict", "one number was known from two grants"},
	{"ambiguous-applied", "a renewal was carried out and its answer lost"},
	{"ambiguous-lost", "a renewal was lost"},
	{"late-answer", "an answer came after its request had been given up"},
	{"repeated-grant", "a grant was read back by its id"},
	{"takeover", "another was granted what had expired"},
	{"takeover-while-paused", "that happened while the former holder stood still"},
	{"paused-holder", "a holder stood still"},
	{"lost-expired", "a holder lost its lease because its time ran out"},
	{"lost-unreachable", "a holder lost its lease because the coordinator did not answer"},
	{"lost-superseded", "a holder was told that another was granted it"},
	{"lost-released", "a holder was told that an operator broke it"},
	{"work-still-running", "work had not stopped when it should have"},
	{"first-touch", "a former holder's write was accepted after its successor had started, for the successor had not touched the row"},
	{"quarantined", "nothing was granted after a restore, for a while"},
	{"grant-forgotten", "a store came back without its newest grants or renewals"},
	{"new-incarnation", "a token of another incarnation was granted"},
	{"handover", "another was granted what had been released"},
	{"broken", "an operator broke a lease"},
	{"missing-rejected", "a write without a token was rejected"},
	{"resource-restored", "the resource came back without its newest writes and raises"},
}

// A Violation is an invariant that does not hold.
type Violation struct {
	Invariant string `json:"invariant"`
	At        Time   `json:"at"`
	Says      string `json:"says"`
}

// judge watches a run.
type judge struct {
	violation *Violation
	marks     [markerCount]uint64
	unbounded bool  // what the conditional invariants assume does not hold
	drift     int64 // the bound
	forgot    bool

	newest     protocol.Guard // the last grant
	started    int64          // the largest token under which work has started
	accepted   []protocol.Guard
	notBefore  protocol.StoreTime
	lastHeld   Time
	presented  int // writes that were sent
	reached    int // that reached the resource
	decisions  int
	incarnated int64
	behind     time.Duration // by how much the store's clock was set back, in all
}

// start takes in the clocks that a run begins with.
func (j *judge) begin(w *world) {
	j.drift = protocol.MaxDrift
	for i := range w.s.Workers {
		j.drift = min(j.drift, int64(w.s.lease(i).Drift*1e6))
	}
	check := func(c *clock) {
		if c.ppm > j.drift || c.ppm < -j.drift {
			j.unbounded = true
		}
	}
	check(&w.store.clock)
	for i := range w.nodes {
		check(&w.nodes[i].clock)
	}
	j.incarnated = w.store.counter.Value() >> 48
}

func (j *judge) mark(m markerID) { j.marks[m]++ }

func (j *judge) broken(w *world, invariant, format string, args ...any) {
	if j.violation != nil {
		return
	}
	j.violation = &Violation{Invariant: invariant, At: w.now, Says: fmt.Sprintf(format, args...)}
	if w.trace != nil {
		w.trace(Entry{At: w.now, Kind: EntryViolation, Who: resourceName, Result: invariant, Note: j.violation.Says})
	}
}

// granted judges a grant.
func (j *judge) granted(w *world, n *node, last protocol.Record, end protocol.End, now protocol.StoreTime) {
	r := w.store.record
	if r.Value <= j.newest.Value {
		j.broken(w, "tokens-increase", "%s was granted %d after %d", n.name, r.Value, j.newest.Value)
	}
	if now < j.notBefore && !(j.forgot && j.unbounded) {
		j.broken(w, "lock-delay", "%s was granted it %v before the grant before was over", n.name, j.notBefore.Sub(now))
	}
	j.newest = protocol.Guard{Value: r.Value, GrantID: r.GrantID}
	j.notBefore = r.FreeAt
	if in := r.Value >> 48; in != j.incarnated {
		j.incarnated = in
		j.mark(newIncarnation)
	}
	switch end {
	case protocol.Expired:
		j.mark(takeover)
		for i := range w.nodes {
			if o := &w.nodes[i]; o.name == last.Owner && w.now < o.still && o.working {
				j.mark(takeoverWhilePaused)
			}
		}
	case protocol.Released:
		j.mark(handover)
	}
}

// changed judges a renewal or a release.
func (j *judge) changed(w *world, m message, before protocol.Record) {
	r := w.store.record
	switch m.op {
	case opRenew:
		if m.answer == protocol.Yes {
			j.notBefore = max(j.notBefore, r.FreeAt)
		}
	case opRelease:
		if m.answer == protocol.Yes {
			j.notBefore = 0
		}
	default:
		return
	}
	ended := before.GrantID != m.grant || before.Value != m.token || m.op == opRenew && before.End != ""
	if ended && r != before {
		j.broken(w, "superseded-changes-nothing", "a %s of grant %s, token %d, changed the record of grant %s, token %d", opNames[m.op], m.grant, m.token, before.GrantID, before.Value)
	}
}

// begun judges that work starts.
func (j *judge) begun(w *world, n *node) {
	j.started = max(j.started, n.token)
	j.lastHeld = w.now
}

// releases judges that a holder sends a release.
func (j *judge) releases(w *world, n *node) {
	if n.working {
		j.broken(w, "released-after-work", "%s releases token %d while its work runs", n.name, n.token)
	}
}

// valid judges that a lease has become valid, or for longer.
func (j *judge) valid(w *world, n *node) {
	j.lastHeld = w.now
	if j.unbounded {
		return
	}
	for i := range w.nodes {
		o := &w.nodes[i]
		if o != n && o.h.Valid(o.clock.instant(w.now)) {
			j.broken(w, "one-valid", "the leases of %s, token %d, and %s, token %d, are both valid", o.name, o.token, n.name, n.token)
		}
	}
}

// begins judges that a write starts which declared how much it needs.
func (j *judge) begins(w *world, n *node, least time.Duration) {
	if j.unbounded || least == 0 {
		return
	}
	r := w.store.record
	left := time.Duration(0)
	if r.GrantID == n.wGrant && r.End == "" {
		left = time.Duration(w.store.clock.when(w.now, int64(r.Expires)*1000) - w.now)
	}
	// By the holder's clock it is at least so much, and that clock may be fast.
	if need := least * 1_000_000 / time.Duration(1_000_000+j.drift); left < need {
		j.broken(w, "enough-left", "%s started work that needs %v, and the coordinator ends the grant in %v", n.name, least, left)
	}
}

// decided judges what the resource made of a write, or of a raise.
func (j *judge) decided(w *world, n *node, m message) {
	if m.op == opRaise {
		if m.seen == protocol.Conflict {
			j.mark(conflictRejected)
		}
		return
	}
	j.decisions++
	switch m.seen {
	case protocol.Stale:
		j.mark(staleRejected)
	case protocol.Conflict:
		j.mark(conflictRejected)
	}
	if m.token == 0 {
		j.mark(missingRejected)
	}
	if m.seen != protocol.Current {
		if m.token != 0 && m.token == j.newest.Value && m.grant == j.newest.GrantID {
			j.broken(w, "newest-accepted", "a write of %s with token %d, the newest granted, was rejected: %s", n.name, m.token, comparisonNames[m.seen])
		}
		return
	}
	for len(j.accepted) <= m.row {
		j.accepted = append(j.accepted, protocol.Guard{})
	}
	switch was := j.accepted[m.row]; {
	case m.token < was.Value:
		j.broken(w, "accepted-in-order", "a write of %s with token %d was accepted after one with %d", n.name, m.token, was.Value)
	case m.token == was.Value && m.grant != was.GrantID:
		j.broken(w, "accepted-in-order", "writes of two grants, %s and %s, were accepted with token %d", was.GrantID, m.grant, m.token)
	}
	if m.token < j.started {
		if w.s.Guard == ScopeGuard {
			j.broken(w, "raised", "a write of %s with token %d was accepted after the work of %d had started", n.name, m.token, j.started)
		} else {
			j.mark(firstTouch)
		}
	}
	j.accepted[m.row] = protocol.Guard{Value: m.token, GrantID: m.grant}
}

// lossMarkers are the markers of how leases are lost.
var lossMarkers = map[protocol.Reason]markerID{protocol.LostExpired: lostExpired, protocol.LostUnreachable: lostUnreachable,
	protocol.LostSuperseded: lostSuperseded, protocol.LostReleased: lostReleased}

func (j *judge) lost(r protocol.Reason) {
	if m, ok := lossMarkers[r]; ok {
		j.mark(m)
	}
}

// counted judges that what reached the resource was decided.
func (j *judge) counted(w *world) {
	if pending := len(w.res.late) - w.res.applied; j.reached != j.decisions+pending {
		j.broken(w, "decisions-sum", "%d writes reached the resource, %d were decided, %d wait", j.reached, j.decisions, pending)
	}
}

// finish judges the whole run.
func (j *judge) finish(w *world) {
	if w.s.Settle == 0 {
		return
	}
	ttl, lockDelay := w.s.longest()
	within := Time(2*protocol.Stretch(ttl+lockDelay, j.drift) + ttl + j.behind + time.Duration(2*w.s.Work.Rest))
	if w.now-j.lastHeld > within {
		j.broken(w, "progress", "nobody has held the lease since %v", time.Duration(j.lastHeld))
	}
}
