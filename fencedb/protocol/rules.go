package protocol

import "time"

// A Rule is a row of the table of a holder's transitions: in one of the states From, on the
// event On, and if If holds, the holder does Do and is in state To.
type Rule struct {
	From []State
	On   EventKind
	If   Condition // the zero Condition always holds
	To   State
	Do   []Effect
	Why  string // for docs/renewal.md
}

// A Condition is asked before a rule's effects.
type Condition struct {
	Name  string
	Holds func(h *Holder, e *Event) bool
}

// An Effect changes a holder and may make actions.
type Effect struct {
	Name  string
	Apply func(h *Holder, e *Event, actions []Action) []Action
}

// Rules are transitions, indexed. They are immutable.
type Rules struct {
	rules []Rule
	index [states][eventKinds][]int
}

// NewRules returns the rules of a table. In each state the first one that fits an event is
// taken; an event that none fits changes nothing: it came too late to matter.
func NewRules(table []Rule) *Rules {
	r := &Rules{rules: table}
	for i, rule := range table {
		for _, from := range rule.From {
			r.index[from][rule.On] = append(r.index[from][rule.On], i)
		}
	}
	return r
}

// Step takes an event in: it changes h and appends what is to be done, in order, to actions.
func (r *Rules) Step(h *Holder, e Event, actions []Action) []Action {
	settle(h, &e)
	for _, i := range r.index[h.State][e.Kind] {
		rule := &r.rules[i]
		if rule.If.Holds != nil && !rule.If.Holds(h, &e) {
			continue
		}
		h.State = rule.To
		for _, do := range rule.Do {
			actions = do.Apply(h, &e, actions)
		}
		break
	}
	return actions
}

// settle notes that a request is no longer under way, whatever is made of its answer.
func settle(h *Holder, e *Event) {
	switch e.Kind {
	case AcquireGranted, AcquireBusy, AcquireOver, AcquireNotSent, AcquireRefused, AcquireUnknown:
		h.Acquire = false
	case RaiseDone, RaiseRefused, RaiseFailed:
		h.Raise = false
	case RenewOK, RenewNo, RenewNotSent, RenewUnknown:
		// An answer to an earlier attempt says nothing about the one under way.
		if e.Attempt == h.Attempt {
			h.Renew = false
		}
	}
}

// HolderRules returns a copy of the table that [Step] follows.
func HolderRules() []Rule { return append([]Rule(nil), holderTable...) }

var holderRules = NewRules(holderTable)

// The conditions.
var (
	ifGuards = Condition{"there are guards", func(h *Holder, _ *Event) bool { return h.Guards }}
	ifUsable = Condition{"its deadline is ahead", func(h *Holder, e *Event) bool { return e.Now < h.granted(e) }}
	ifTry    = Condition{"it does not wait", func(h *Holder, _ *Event) bool { return !h.Wait }}
	ifMayOwn = Condition{"a grant may have been made", func(h *Holder, _ *Event) bool { return h.MayOwn || h.Acquire }}
	ifReady  = Condition{"its deadline is ahead and it is certain", func(h *Holder, e *Event) bool { return e.Now < h.Deadline && !h.Uncertain }}
	ifPast   = Condition{"its deadline has passed", func(h *Holder, e *Event) bool { return e.Now >= h.Deadline }}
	ifAbort  = Condition{"ambiguity ends the work", func(h *Holder, _ *Event) bool { return h.Abort }}
	ifLost   = Condition{"it is lost", func(h *Holder, _ *Event) bool { return h.Reason != NotLost }}
	ifRaised = Condition{"the guards are raised and it is usable", func(h *Holder, e *Event) bool {
		return h.Raised && e.Now < max(h.Deadline, h.Timing.Deadline(e.Sent, e.TTL)) && (!h.Uncertain || e.Sent >= h.UncertainSince)
	}}
	ifOverrun = Condition{"its deadline has passed while the work runs", func(h *Holder, e *Event) bool {
		return h.Working && h.Reason == NotLost && e.Now >= h.Deadline
	}}
	ifOverdue = Condition{"the work had the margin to stop", func(h *Holder, e *Event) bool {
		return h.Working && h.Reason != NotLost && !h.Reported && e.Now >= h.ReportAt
	}}
)

// granted returns the deadline of the grant that the event tells of. One that was made for
// an earlier request has lasted since then.
func (h *Holder) granted(e *Event) Instant {
	sent := e.Sent
	if e.Repeated && h.FirstSent != 0 {
		sent = min(sent, h.FirstSent)
	}
	return h.Timing.Deadline(sent, e.TTL)
}

// backoff returns how long to wait after the failures so far, with some randomness.
func (h *Holder) backoff(e *Event) time.Duration {
	d := min(h.RetryEvery<<min(h.Failures, 16), h.AttemptTimeout)
	return d/2 + spread(d/2, e.Random)
}

func spread(d time.Duration, random uint16) time.Duration {
	return d * time.Duration(random) / (1 << 16)
}

// The effects.
var (
	sendAcquire = Effect{"send acquire", func(h *Holder, e *Event, out []Action) []Action {
		h.Acquire = true
		if h.FirstSent == 0 {
			h.FirstSent = e.Now
		}
		return append(out, Action{Kind: SendAcquire, Sent: e.Now, Timeout: h.AttemptTimeout})
	}}
	sendFresh = Effect{"send acquire with another grant id", func(h *Holder, e *Event, out []Action) []Action {
		h.Acquire, h.MayOwn, h.FirstSent, h.Failures = true, false, e.Now, 0
		return append(out, Action{Kind: SendAcquire, Sent: e.Now, Timeout: h.AttemptTimeout, Fresh: true})
	}}
	sendAcquireIfDue = Effect{"send acquire if it is due", func(h *Holder, e *Event, out []Action) []Action {
		if h.Acquire || e.Now < h.NextRaise {
			return out
		}
		return sendAcquire.Apply(h, e, out)
	}}
	maybeGranted = Effect{"note that a grant may have been made", func(h *Holder, _ *Event, out []Action) []Action {
		h.MayOwn = true
		return out
	}}
	notGranted = Effect{"note that no grant was made", func(h *Holder, _ *Event, out []Action) []Action {
		if !h.MayOwn {
			h.FirstSent = 0 // the next request is the first again
		}
		return out
	}}
	askAgain    = again("ask again soon")
	askWhenFree = Effect{"ask again when it can be free", func(h *Holder, e *Event, out []Action) []Action {
		h.Failures = 0
		wait := min(max(e.RetryIn, h.RetryEvery), h.Poll)
		h.NextRaise = e.Now.Add(wait + spread(h.RetryEvery, e.Random))
		return out
	}}
	takeGrant = Effect{"count from when it was first asked for", func(h *Holder, e *Event, out []Action) []Action {
		h.Deadline, h.MayOwn, h.Failures = h.granted(e), true, 0
		h.NextRenew = e.Now
		if e.Now < h.Deadline {
			h.NextRenew = h.renewAt(e.Sent, e)
		}
		h.Raised = !h.Guards
		return out
	}}
	sendRaise = Effect{"send raise", func(h *Holder, e *Event, out []Action) []Action {
		h.Raise = true
		return append(out, Action{Kind: SendRaise, Sent: e.Now, Timeout: h.AttemptTimeout})
	}}
	raised = Effect{"note that the guards are raised", func(h *Holder, _ *Event, out []Action) []Action {
		h.Raised = true
		return out
	}}
	raiseAgain = again("raise again soon")
	sendRenew  = Effect{"send renew", func(h *Holder, e *Event, out []Action) []Action {
		if h.Renew {
			return out
		}
		h.Renew = true
		h.Attempt++
		timeout := h.AttemptTimeout
		if left := h.Deadline.Sub(e.Now); left > 0 {
			timeout = min(timeout, left)
		}
		return append(out, Action{Kind: SendRenew, Attempt: h.Attempt, Sent: e.Now, Timeout: timeout})
	}}
	sendDue = Effect{"send what is due", func(h *Holder, e *Event, out []Action) []Action {
		if h.State == Raising && !h.Raised && !h.Raise && e.Now >= h.NextRaise {
			out = sendRaise.Apply(h, e, out)
		}
		if e.Now >= h.NextRenew {
			out = sendRenew.Apply(h, e, out)
		}
		return out
	}}
	renewAgain = Effect{"renew again soon", func(h *Holder, e *Event, out []Action) []Action {
		if e.Attempt == h.Attempt {
			h.NextRenew = e.Now.Add(h.backoff(e))
			h.Failures++
		}
		return out
	}}
	extend = Effect{"extend from when it was sent", func(h *Holder, e *Event, out []Action) []Action {
		h.Deadline = max(h.Deadline, h.Timing.Deadline(e.Sent, e.TTL))
		if e.Attempt == h.Attempt {
			h.Failures = 0
			h.NextRenew = h.renewAt(e.Sent, e)
		}
		if h.Uncertain && e.Sent >= h.UncertainSince {
			h.Uncertain = false
			out = append(out, Action{Kind: ReportCertain})
		}
		return out
	}}
	ambiguous = Effect{"make it uncertain", func(h *Holder, e *Event, out []Action) []Action {
		h.UncertainSince = max(h.UncertainSince, e.Sent)
		return h.uncertain(out)
	}}
	jumped = Effect{"make it uncertain until it is read back", func(h *Holder, e *Event, out []Action) []Action {
		h.UncertainSince = e.Now
		h.NextRenew = e.Now
		return h.uncertain(out)
	}}
	startWork = Effect{"start work", func(h *Holder, _ *Event, out []Action) []Action {
		h.Working = true
		return append(out, Action{Kind: StartWork})
	}}
	cancelWork = Effect{"cancel work", func(_ *Holder, _ *Event, out []Action) []Action {
		return append(out, Action{Kind: CancelWork})
	}}
	cancelRequests = Effect{"cancel requests", func(_ *Holder, _ *Event, out []Action) []Action {
		return append(out, Action{Kind: CancelRequests})
	}}
	sendRelease = Effect{"send release", func(h *Holder, e *Event, out []Action) []Action {
		h.Ended = true // before anybody else can be granted it
		return append(out, Action{Kind: SendRelease, Sent: e.Now, Timeout: h.AttemptTimeout})
	}}
	workOver = Effect{"note that the work is over", func(h *Holder, _ *Event, out []Action) []Action {
		h.Working = false
		return out
	}}
	reportRunning = Effect{"report that the work still runs", func(h *Holder, _ *Event, out []Action) []Action {
		h.Reported = true
		return append(out, Action{Kind: ReportRunning})
	}}
	finish = Effect{"finish", func(h *Holder, _ *Event, out []Action) []Action {
		h.Ended = true
		return append(out, Action{Kind: Finish})
	}}
	loseExpired = Effect{"lose: expired or unreachable", func(h *Holder, e *Event, out []Action) []Action {
		if h.Failures > 0 {
			return h.lose(LostUnreachable, e, out)
		}
		return h.lose(LostExpired, e, out)
	}}
	loseSaid       = Effect{"lose: as the answer says", func(h *Holder, e *Event, out []Action) []Action { return h.lose(e.Reason, e, out) }}
	loseSuperseded = Effect{"lose: superseded", func(h *Holder, e *Event, out []Action) []Action { return h.lose(LostSuperseded, e, out) }}
	loseAmbiguous  = Effect{"lose: ambiguous", func(h *Holder, e *Event, out []Action) []Action { return h.lose(LostAmbiguous, e, out) }}
	losePanicked   = Effect{"lose: panicked", func(h *Holder, e *Event, out []Action) []Action { return h.lose(LostPanicked, e, out) }}
	failHeld       = failure("fail: held", FailedHeld)
	failRefused    = failure("fail: refused", FailedRefused)
	failNotSent    = failure("fail: not sent", FailedNotSent)
	failUnknown    = failure("fail: unknown", FailedUnknown)
	failStopped    = failure("fail: stopped", FailedStopped)
)

// again asks for the grant, or for the raise, once more.
func again(name string) Effect {
	return Effect{name, func(h *Holder, e *Event, out []Action) []Action {
		h.NextRaise = e.Now.Add(h.backoff(e))
		h.Failures++
		return out
	}}
}

func failure(name string, f Failure) Effect {
	return Effect{name, func(h *Holder, _ *Event, out []Action) []Action {
		h.Failure = f
		return out
	}}
}

// lose ends the lease for the first reason that came up.
func (h *Holder) lose(r Reason, e *Event, out []Action) []Action {
	h.Ended = true
	if h.Reason == NotLost {
		h.Reason, h.ReportAt = r, e.Now.Add(h.Margin)
	}
	return out
}

func (h *Holder) uncertain(out []Action) []Action {
	if h.Uncertain {
		return out
	}
	h.Uncertain = true
	return append(out, Action{Kind: ReportUncertain})
}

// renewAt returns when to renew after a request that was sent at sent: up to a tenth
// earlier than RenewEvery, so that many holders do not renew at once.
func (h *Holder) renewAt(sent Instant, e *Event) Instant {
	return max(e.Now, sent.Add(h.RenewEvery-spread(h.RenewEvery/10, e.Random)))
}

// holderTable is what a holder does. Its order matters: the first row that fits is taken.
var holderTable = []Rule{
	{From: []State{Idle}, On: Start, To: Acquiring, Do: []Effect{sendAcquire}},

	{From: []State{Acquiring}, On: AcquireGranted, If: ifGuards, To: Raising, Do: []Effect{takeGrant, sendRaise},
		Why: "nothing below the token is accepted before this holder reads or works"},
	{From: []State{Acquiring}, On: AcquireGranted, If: ifUsable, To: Held, Do: []Effect{takeGrant, startWork}},
	{From: []State{Acquiring}, On: AcquireGranted, To: Raising, Do: []Effect{takeGrant, sendRenew},
		Why: "the answer came when most of the grant was over: no work before a renewal"},
	{From: []State{Acquiring}, On: AcquireBusy, If: ifTry, To: Idle, Do: []Effect{failHeld, finish}},
	{From: []State{Acquiring}, On: AcquireBusy, To: Acquiring, Do: []Effect{notGranted, askWhenFree}},
	{From: []State{Acquiring}, On: AcquireOver, To: Acquiring, Do: []Effect{sendFresh},
		Why: "the grant was made, its answer was lost, and it has ended: no work ran under it"},
	{From: []State{Acquiring}, On: AcquireNotSent, If: ifTry, To: Idle, Do: []Effect{failNotSent, finish}},
	{From: []State{Acquiring}, On: AcquireNotSent, To: Acquiring, Do: []Effect{notGranted, askAgain}},
	{From: []State{Acquiring}, On: AcquireUnknown, If: ifTry, To: Draining, Do: []Effect{maybeGranted, failUnknown, sendRelease},
		Why: "a grant that nobody knows of would keep others waiting"},
	{From: []State{Acquiring}, On: AcquireUnknown, To: Acquiring, Do: []Effect{maybeGranted, askAgain},
		Why: "the same grant id asks again, and reads the grant back if it was made"},
	{From: []State{Acquiring}, On: AcquireRefused, If: ifMayOwn, To: Draining, Do: []Effect{failRefused, sendRelease}},
	{From: []State{Acquiring}, On: AcquireRefused, To: Idle, Do: []Effect{failRefused, finish}},
	{From: []State{Acquiring}, On: Tick, To: Acquiring, Do: []Effect{sendAcquireIfDue}},
	{From: []State{Acquiring}, On: StopAsked, If: ifMayOwn, To: Draining, Do: []Effect{failStopped, cancelRequests, sendRelease},
		Why: "the request may have been carried out"},
	{From: []State{Acquiring}, On: StopAsked, To: Idle, Do: []Effect{failStopped, finish}},

	{From: []State{Raising}, On: RaiseDone, If: ifReady, To: Held, Do: []Effect{raised, startWork}},
	{From: []State{Raising}, On: RaiseDone, To: Raising, Do: []Effect{raised, sendRenew},
		Why: "the raise took most of the grant, or the lease is uncertain: a renewal first"},
	{From: []State{Raising}, On: RaiseRefused, To: Draining, Do: []Effect{loseSuperseded, cancelRequests, sendRelease}},
	{From: []State{Raising}, On: RaiseFailed, To: Raising, Do: []Effect{raiseAgain}},
	{From: []State{Raising}, On: RenewOK, If: ifRaised, To: Held, Do: []Effect{extend, startWork}},
	{From: []State{Raising}, On: RenewOK, To: Raising, Do: []Effect{extend}},
	{From: []State{Raising}, On: RenewNo, To: Lost, Do: []Effect{loseSaid, cancelRequests, finish}},
	{From: []State{Raising}, On: RenewNotSent, To: Raising, Do: []Effect{renewAgain}},
	{From: []State{Raising}, On: RenewUnknown, To: Raising, Do: []Effect{ambiguous, renewAgain}},
	{From: []State{Raising}, On: ClockJumped, To: Raising, Do: []Effect{jumped, sendRenew}},
	{From: []State{Raising}, On: Tick, To: Raising, Do: []Effect{sendDue},
		Why: "a deadline that passes before the work starts harms nobody: only the coordinator can end the grant"},
	{From: []State{Raising}, On: StopAsked, To: Draining, Do: []Effect{failStopped, cancelRequests, sendRelease}},

	{From: []State{Held}, On: Tick, If: ifPast, To: Draining, Do: []Effect{loseExpired, cancelRequests, cancelWork},
		Why: "the coordinator may let another in from its own, later, deadline on"},
	{From: []State{Held}, On: Tick, To: Held, Do: []Effect{sendDue}},
	{From: []State{Held}, On: RenewOK, If: ifPast, To: Draining, Do: []Effect{loseExpired, cancelRequests, cancelWork},
		Why: "a lease that was invalid for a moment does not become valid again"},
	{From: []State{Held}, On: RenewOK, To: Held, Do: []Effect{extend}},
	{From: []State{Held}, On: RenewNo, To: Draining, Do: []Effect{loseSaid, cancelWork},
		Why: "the answer is certain: the work does not wait for the deadline"},
	{From: []State{Held}, On: RenewNotSent, To: Held, Do: []Effect{renewAgain}},
	{From: []State{Held}, On: RenewUnknown, If: ifAbort, To: Draining, Do: []Effect{ambiguous, loseAmbiguous, cancelWork}},
	{From: []State{Held}, On: RenewUnknown, To: Held, Do: []Effect{ambiguous, renewAgain},
		Why: "it extends nothing; what was proven before still holds"},
	{From: []State{Held}, On: ClockJumped, To: Held, Do: []Effect{jumped, sendRenew}},
	{From: []State{Held}, On: StopAsked, To: Draining, Do: []Effect{cancelRequests, cancelWork}},
	{From: []State{Held}, On: WorkReturned, If: ifPast, To: Lost, Do: []Effect{workOver, loseExpired, cancelRequests, finish}},
	{From: []State{Held}, On: WorkReturned, To: Draining, Do: []Effect{workOver, cancelRequests, sendRelease}},
	{From: []State{Held}, On: WorkPanicked, To: Lost, Do: []Effect{workOver, losePanicked, cancelRequests, finish},
		Why: "what the work left behind is unknown, so the lease runs out instead of being given away"},

	{From: []State{Draining}, On: Tick, If: ifOverrun, To: Draining, Do: []Effect{loseExpired},
		Why: "what was told to stop did not in time"},
	{From: []State{Draining}, On: Tick, If: ifOverdue, To: Draining, Do: []Effect{reportRunning},
		Why: "a release while the work runs would let another in beside it"},
	{From: []State{Draining}, On: WorkReturned, If: ifLost, To: Lost, Do: []Effect{workOver, finish}},
	{From: []State{Draining}, On: WorkReturned, If: ifPast, To: Lost, Do: []Effect{workOver, loseExpired, finish}},
	{From: []State{Draining}, On: WorkReturned, To: Draining, Do: []Effect{workOver, sendRelease}},
	{From: []State{Draining}, On: WorkPanicked, To: Lost, Do: []Effect{workOver, losePanicked, finish}},
	{From: []State{Draining}, On: ReleaseOK, If: ifLost, To: Lost, Do: []Effect{finish}},
	{From: []State{Draining}, On: ReleaseOK, To: WasReleased, Do: []Effect{finish}},
	{From: []State{Draining}, On: ReleaseNo, If: ifNotWorked, To: WasReleased, Do: []Effect{finish}},
	{From: []State{Draining}, On: ReleaseNo, To: Lost, Do: []Effect{loseSaid, finish},
		Why: "another was granted it although the deadline was ahead: a clock, or an operator"},
	{From: []State{Draining}, On: ReleaseFailed, If: ifLost, To: Lost, Do: []Effect{finish}},
	{From: []State{Draining}, On: ReleaseFailed, To: WasReleased, Do: []Effect{finish},
		Why: "the work is over; the lease expires by itself"},
}

var ifNotWorked = Condition{"no work ran", func(h *Holder, _ *Event) bool { return h.Failure != NoFailure }}
