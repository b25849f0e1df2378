package protocol

import "time"

// A State is where a holder is in the life of one grant.
type State uint8

// The states. Released and Lost are final, and so is Idle once a holder has come back to
// it: another acquisition is another Holder.
const (
	Idle      State = iota // nothing was asked for, or nothing came of it
	Acquiring              // asking for a grant, or waiting to ask again
	Raising                // granted; the guards are being raised, and no work has started
	Held                   // the work runs
	Draining               // the work was told to stop, or has, and the release is under way
	WasReleased
	Lost
	states
)

// String returns the state's name, as docs/renewal.md has it.
func (s State) String() string { return stateNames[s] }

var stateNames = [states]string{"idle", "acquiring", "raising", "held", "draining", "released", "lost"}

// A Reason says why a lease is being, or was, lost. The zero Reason says that it is not.
type Reason uint8

// The reasons.
const (
	NotLost         Reason = iota
	LostExpired            // its time ran out although the coordinator answered, or was not asked
	LostUnreachable        // its time ran out while no renewal was answered
	LostSuperseded         // another was granted, or a guard knows a later grant
	LostReleased           // somebody else released or broke it
	LostAmbiguous          // a renewal was ambiguous, and that is to end the work
	LostPanicked           // the work did not return
)

// A Failure says why a holder got no lease. The zero Failure says that it did, or still may.
type Failure uint8

// The failures.
const (
	NoFailure Failure = iota
	FailedHeld
	FailedRefused
	FailedNotSent
	FailedUnknown
	FailedStopped
)

// An EventKind is what can happen to a holder.
type EventKind uint8

// The events. Those of a request are its answer.
const (
	Start          EventKind = iota
	Tick                     // time has passed; at NextWake at the latest
	StopAsked                // who wanted the lease wants it no longer
	AcquireGranted           // Sent, TTL, Repeated
	AcquireBusy              // RetryIn
	AcquireOver              // the grant was made and has ended: a lost answer came too late
	AcquireNotSent
	AcquireRefused // asking again does not help
	AcquireUnknown // the answer was lost: the grant may have been made
	RaiseDone      // every guard knows the token
	RaiseRefused   // a guard knows a later one, or the number from another grant
	RaiseFailed    // nothing is known about the raise
	RenewOK        // Attempt, Sent, TTL
	RenewNo        // Reason
	RenewNotSent   // Attempt
	RenewUnknown   // Attempt, Sent: the answer was lost, the lease may have been renewed
	ClockJumped    // the clocks of this process disagree, or it was suspended
	WorkReturned
	WorkPanicked // or called runtime.Goexit
	ReleaseOK
	ReleaseNo     // Reason: it had been lost and nobody had noticed
	ReleaseFailed // the lease expires by itself
	eventKinds
)

// String returns the event's name, as docs/renewal.md has it.
func (k EventKind) String() string { return eventNames[k] }

var eventNames = [eventKinds]string{
	"start", "tick", "stop asked", "granted", "busy", "grant over", "acquire not sent", "acquire refused",
	"acquire unknown", "raised", "raise refused", "raise failed", "renewed", "renewal refused",
	"renewal not sent", "renewal unknown", "clock jumped", "work returned", "work panicked",
	"release done", "release refused", "release failed",
}

// An Event is something that happened to a holder at Now by its own clock. Which of the
// other fields an event has is said at its kind.
type Event struct {
	Kind     EventKind
	Now      Instant
	Attempt  int           // of the renewal, as its action had it
	Sent     Instant       // when the request was handed over, as its action had it
	TTL      time.Duration // as granted
	Repeated bool          // the grant was made for an earlier request
	RetryIn  time.Duration // when the resource can be free
	Reason   Reason
	Random   uint16 // spreads requests of many holders over time
}

// An ActionKind is what a holder does.
type ActionKind uint8

// The actions. A request's answer comes back as an event.
const (
	SendAcquire    ActionKind = iota // Fresh: with another grant id than before
	SendRaise                        // raise the guards that are not raised yet
	SendRenew                        // Attempt
	SendRelease                      // once the other requests have ended
	CancelRequests                   // acquire, raise and renew; their answers do not matter any more
	StartWork
	CancelWork      // tell the work to stop
	ReportRunning   // the lease is over and the work is not
	ReportUncertain // the lease has become uncertain
	ReportCertain   // the lease is certain again
	Finish          // the holder is at its end
	actionKinds
)

// String returns the action's name, as docs/renewal.md has it.
func (k ActionKind) String() string { return actionNames[k] }

var actionNames = [actionKinds]string{
	"send acquire", "send raise", "send renew", "send release", "cancel requests", "start work",
	"cancel work", "report running", "report uncertain", "report certain", "finish",
}

// An Action is something to do. Requests are handed over after the step, so its Now is
// before any of them was sent.
type Action struct {
	Kind    ActionKind
	Attempt int           // of a renewal
	Sent    Instant       // Now of the step
	Timeout time.Duration // of the request
	Fresh   bool
}

// HolderConfig is how a holder behaves.
type HolderConfig struct {
	Timing
	Wait       bool          // for a resource that is held; else it gives up
	Guards     bool          // there are guards to raise before the work
	Abort      bool          // an ambiguous renewal ends the work
	RetryEvery time.Duration // the first wait after a request that failed; doubled up to AttemptTimeout
	Poll       time.Duration // the longest wait for a resource that is held
}

// A Holder is one acquisition of one lease, from the wish for it to its end. The zero
// Holder with a HolderConfig that passes Timing.Check is ready for Start. A Holder is a
// value.
type Holder struct {
	HolderConfig
	State   State
	Reason  Reason  // why it is being lost, or was
	Failure Failure // why there is none

	// Deadline is the conservative deadline, which only moves on for a certain answer,
	// counted from when that answer's request was handed over. Zero before a grant.
	Deadline Instant
	Ended    bool // the lease is over before its deadline, or after it

	Uncertain      bool
	UncertainSince Instant // only an answer to a request sent then or later makes it certain

	FirstSent Instant // of the first request that the present grant may have been made for
	MayOwn    bool    // a request for a grant may have been carried out

	Attempt   int // of renewals
	Acquire   bool
	Raise     bool
	Renew     bool // requests that are under way
	Raised    bool
	NextRaise Instant // and acquire
	NextRenew Instant
	Failures  int // requests without a certain answer since the last one
	Working   bool
	ReportAt  Instant // when work that runs on after the loss is reported
	Reported  bool
}

// Valid tells whether the lease is certain to be held at now.
func (h Holder) Valid(now Instant) bool {
	return (h.State == Held || h.State == Draining) && !h.Ended && now < h.Deadline
}

// NextWake returns when the holder has to see a Tick, 0 if it waits for something else.
func (h Holder) NextWake() Instant {
	var next Instant
	wake := func(pending bool, at Instant) {
		if pending && (next == 0 || at < next) {
			next = at
		}
	}
	switch h.State {
	case Acquiring:
		wake(!h.Acquire, h.NextRaise)
	case Raising:
		wake(!h.Raise && !h.Raised, h.NextRaise)
		wake(!h.Renew, h.NextRenew)
	case Held:
		wake(true, h.Deadline)
		wake(!h.Renew, h.NextRenew)
	case Draining:
		wake(h.Working && h.Reason == NotLost, h.Deadline)
		wake(h.Working && h.Reason != NotLost && !h.Reported, h.ReportAt)
	}
	return next
}

// Step is [Rules.Step] of the rules that [HolderRules] returns.
func Step(h Holder, e Event) (Holder, []Action) {
	actions := holderRules.Step(&h, e, nil)
	return h, actions
}
