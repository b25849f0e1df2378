package fencedb

import (
	"context"
	"errors"
	"time"
)

// A Result is how a write that compares, or a guard, decided.
type Result string

// The results. Each but Accepted and Failed is one of this package's errors.
const (
	Accepted      Result = "accepted"
	Stale         Result = "stale"          // ErrStale
	Conflict      Result = "conflict"       // *ConflictError
	Missing       Result = "missing"        // ErrNotFound
	NotGranted    Result = "not_granted"    // ErrNotGranted
	WrongResource Result = "wrong_resource" // ErrWrongResource
	Invalid       Result = "invalid_token"  // ErrInvalidToken
	Failed        Result = "failed"         // the database's error: nothing was decided
)

// ResultOf returns the Result that an error of this package stands for: Accepted for
// nil, Failed for any other.
func ResultOf(err error) Result {
	var conflict *ConflictError
	switch {
	case err == nil:
		return Accepted
	case errors.Is(err, ErrStale):
		return Stale
	case errors.As(err, &conflict):
		return Conflict
	case errors.Is(err, ErrNotFound):
		return Missing
	case errors.Is(err, ErrNotGranted):
		return NotGranted
	case errors.Is(err, ErrWrongResource):
		return WrongResource
	case errors.Is(err, ErrInvalidToken):
		return Invalid
	}
	return Failed
}

// A Decision is the receipt of one comparison of a token: what a guard, or a row, made
// of a write, or of a raise.
type Decision struct {
	Operation string // "enter", "raise", "update", ...
	Table     string // the table that compared
	Key       string // the row, as "id=7"; empty for a guard
	Resource  string // of the token
	Presented int64  // the value of the token that was presented
	Grant     string // its grant id
	Current   int64  // the value it was compared with, 0 if it is not known
	Result    Result
}

// An Observer is told of what happens. Nil functions are not called. They are called
// in the goroutine that does the work, in order, often within a transaction: they have
// to return at once and must not panic. Any number of goroutines may use one Observer
// if its functions allow it. A nil *Observer observes nothing.
type Observer struct {
	// Decision is called for every decision once it is known. A write that was
	// accepted counts only when its transaction is committed, which comes later.
	Decision func(context.Context, Decision)

	// Attempt is called for every answer to a request for a grant, also for those that
	// were refused.
	Attempt func(context.Context, AttemptReceipt)

	// Grant is called when a lease is held and its work is about to start.
	Grant func(context.Context, GrantReceipt)

	// Renew is called for every renewal that was answered or given up.
	Renew func(context.Context, RenewReceipt)

	// Uncertain is called when a lease becomes uncertain and when it is certain again.
	Uncertain func(context.Context, UncertainReceipt)

	// End is called when a lease is over, also one under which no work has started. When it
	// is over and its work has not returned, WorkStillRunning is set, and End is called again
	// when the work has.
	End func(context.Context, EndReceipt)
}

// An AttemptOutcome is how a request for a grant was answered.
type AttemptOutcome string

// The outcomes of requests for a grant.
const (
	AttemptGranted AttemptOutcome = "granted"
	AttemptBusy    AttemptOutcome = "busy"    // another holds it
	AttemptDelayed AttemptOutcome = "delayed" // nobody holds it, and its lock-delay is not over
	AttemptRefused AttemptOutcome = "error"   // asking again does not help
	AttemptNotSent AttemptOutcome = "not_sent"
	AttemptUnknown AttemptOutcome = "unknown" // the answer was lost
)

// An AttemptReceipt is one request for a grant and its answer.
type AttemptReceipt struct {
	Namespace string
	Resource  string
	Owner     string
	GrantID   string
	Outcome   AttemptOutcome
	Duration  time.Duration // by the holder's clock
	Err       error         // nil if it was granted
}

// A GrantReceipt is a lease that is about to be worked under.
type GrantReceipt struct {
	Namespace     string
	Lease         *Lease
	Owner         string
	Coordinator   time.Time // the grant's, by the coordinator's clock
	Transaction   string    // of the grant, in the store's terms
	Predecessor   Predecessor
	Guards        int           // how many were raised; none says that the lease is unguarded
	Acquired      time.Duration // from the request that was granted to now, by the holder's clock
	TakeoverDelay time.Duration // from the predecessor's expiry to now, as far as the two clocks tell; 0 if none expired
}

// A RenewOutcome is how a renewal was answered.
type RenewOutcome string

// The outcomes of renewals.
const (
	RenewOK         RenewOutcome = "ok"
	RenewSuperseded RenewOutcome = "superseded"
	RenewExpired    RenewOutcome = "expired"
	RenewReleased   RenewOutcome = "released" // or broken by an operator
	RenewNotSent    RenewOutcome = "not_sent"
	RenewAmbiguous  RenewOutcome = "ambiguous" // the answer was lost: it may have been carried out
)

// A RenewReceipt is one renewal.
type RenewReceipt struct {
	Namespace   string
	Lease       *Lease
	Outcome     RenewOutcome
	Duration    time.Duration // by the holder's clock
	Remaining   time.Duration // until the conservative deadline, after the answer
	Coordinator time.Time     // by the coordinator's clock; zero unless RenewOK
	Count       int64         // how often it was renewed; 0 unless RenewOK
	Err         error         // nil if RenewOK
}

// An UncertainReceipt says that it is no longer certain that a lease is held, or that it is
// again.
type UncertainReceipt struct {
	Namespace string
	Lease     *Lease
	Uncertain bool
	Cause     string        // "ambiguous_renewal", "clock_jump" or "suspend"
	Jump      time.Duration // of the wall clock, or of the suspension; 0 for a renewal
}

// An EndReceipt says how a lease has ended.
type EndReceipt struct {
	Namespace        string
	Lease            *Lease
	Reason           LossReason    // empty if it was held to the end of the work
	Err              error         // what the coordinator or a guard said last before it was lost, nil if that says nothing
	WorkStillRunning bool          // the lease is over and its work is not: nothing is released
	Release          string        // "released", "skipped" or "failed"
	ReleaseErr       error         // why it failed; the lease expires by itself
	Drain            time.Duration // from when the work was told to stop to when it returned; 0 if it was not told
	Held             time.Duration // from the grant to the end
	Pause            time.Duration // the longest time for which this process is known to have stood still
}

// Observers returns an Observer that tells each of os, in order. Those that are nil are
// left out; of none comes nil.
func Observers(os ...*Observer) *Observer {
	var all []*Observer
	for _, o := range os {
		if o != nil {
			all = append(all, o)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return &Observer{
		Decision:  each(all, func(o *Observer) func(context.Context, Decision) { return o.Decision }),
		Attempt:   each(all, func(o *Observer) func(context.Context, AttemptReceipt) { return o.Attempt }),
		Grant:     each(all, func(o *Observer) func(context.Context, GrantReceipt) { return o.Grant }),
		Renew:     each(all, func(o *Observer) func(context.Context, RenewReceipt) { return o.Renew }),
		Uncertain: each(all, func(o *Observer) func(context.Context, UncertainReceipt) { return o.Uncertain }),
		End:       each(all, func(o *Observer) func(context.Context, EndReceipt) { return o.End }),
	}
}

// each returns a function that calls one of each observer.
func each[T any](all []*Observer, field func(*Observer) func(context.Context, T)) func(context.Context, T) {
	return func(ctx context.Context, receipt T) {
		for _, o := range all {
			tell(ctx, field(o), receipt)
		}
	}
}

// tell calls an observer's function if it has it.
func tell[T any](ctx context.Context, f func(context.Context, T), receipt T) {
	if f != nil {
		f(ctx, receipt)
	}
}

// Decide tells the observer of a decision. Generated writers call it.
func (o *Observer) Decide(ctx context.Context, d Decision) {
	if o != nil && o.Decision != nil {
		o.Decision(ctx, d)
	}
}
