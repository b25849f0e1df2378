package fencedb

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fencelint/fence/fencedb/protocol"
)

// ErrUncertain says that work was not started because it is not certain that the lease is
// held: the answer to a renewal was lost, or the clocks of this process disagree. The next
// renewal that is answered makes it certain again, or ends it.
var ErrUncertain = errors.New("fencedb: it is not certain that the lease is held")

// A LossReason says why a lease was lost.
type LossReason string

// The reasons. After LossExpired, LossSuperseded and LossReleased the coordinator has, or
// will have, another idea of who the holder is; after LossUnreachable nobody knows.
const (
	LossExpired     LossReason = "expired"     // its time ran out: the process stood still, or the work took too long to stop
	LossUnreachable LossReason = "unreachable" // its time ran out while no renewal was answered
	LossSuperseded  LossReason = "superseded"  // the coordinator, or a guard, knows a later grant
	LossReleased    LossReason = "released"    // somebody else released the grant, or an operator broke it
	LossAmbiguous   LossReason = "ambiguous"   // the answer to a renewal was lost, and that was to [Abort]
	LossPanicked    LossReason = "panicked"    // the work panicked, or called runtime.Goexit
)

var lossReasons = map[protocol.Reason]LossReason{
	protocol.LostExpired:     LossExpired,
	protocol.LostUnreachable: LossUnreachable,
	protocol.LostSuperseded:  LossSuperseded,
	protocol.LostReleased:    LossReleased,
	protocol.LostAmbiguous:   LossAmbiguous,
	protocol.LostPanicked:    LossPanicked,
}

// lossMatches are the errors that a LostError matches besides what it wraps. Each reason
// has ErrLeaseExpired or ErrSuperseded, so that two cases are enough.
var lossMatches = map[LossReason][]error{
	LossExpired:     {ErrLeaseExpired},
	LossUnreachable: {ErrLeaseExpired},
	LossAmbiguous:   {ErrLeaseExpired, ErrUncertain},
	LossPanicked:    {ErrLeaseExpired},
	LossSuperseded:  {ErrSuperseded},
	LossReleased:    {ErrSuperseded, ErrReleased},
}

// A LostError is a lease that ended before its work did. It matches [ErrSuperseded] if
// another was granted the resource, or an operator took it away, and [ErrLeaseExpired] if
// the lease ran out.
type LostError struct {
	Resource string
	Token    Token
	Reason   LossReason
	Err      error // the last answer of the coordinator, or of a guard, that was none or a no; nil if there was none
}

// Error says which lease was lost, and why.
func (e *LostError) Error() string {
	s := fmt.Sprintf("fencedb: the lease of %s with token %d was lost: %s", e.Resource, e.Token.Value(), e.Reason)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Is makes a LostError match the errors of its reason.
func (e *LostError) Is(target error) bool {
	for _, err := range lossMatches[e.Reason] {
		if err == target {
			return true
		}
	}
	return false
}

// Unwrap returns Err.
func (e *LostError) Unwrap() error { return e.Err }

// A Lease is the ownership that work under [Hold] has. Any number of goroutines may use
// one. After Hold has returned it is never valid again.
type Lease struct {
	token     Token
	namespace string
	owner     string
	granted   time.Time
	raised    bool
	clock     Clock

	// Changed by the holder while the work reads them.
	deadline  atomic.Int64 // the instant; 0 once the lease is over
	uncertain atomic.Bool
	renewed   atomic.Int64 // by the coordinator's clock, in microseconds since 1970
	pause     atomic.Int64 // the longest known, in nanoseconds
	wake      atomic.Int64 // the instant the holder's timer is for, 0 for none
}

// Token returns the grant's token. Pass it to every write that the lease is for.
func (l *Lease) Token() Token { return l.token }

// Namespace returns the namespace of the coordinator that granted it.
func (l *Lease) Namespace() string { return l.namespace }

// Owner returns the name that [Owner] gave the holder.
func (l *Lease) Owner() string { return l.owner }

// Granted returns when the lease was granted, by the coordinator's clock.
func (l *Lease) Granted() time.Time { return l.granted }

// Renewed returns when the lease was last known to be renewed, or granted, by the
// coordinator's clock.
func (l *Lease) Renewed() time.Time { return protocol.StoreTime(l.renewed.Load()).Time() }

// Raised tells whether guards were named, all of which know the token.
func (l *Lease) Raised() bool { return l.raised }

// Uncertain tells whether [Lease.Begin] refuses because a renewal's answer was lost or the
// clocks disagree.
func (l *Lease) Uncertain() bool { return l.uncertain.Load() }

// Pause returns the longest time for which the process is known to have stood still since
// the grant: by how much the renewals' timer was late, or is late now.
func (l *Lease) Pause() time.Duration {
	longest := time.Duration(l.pause.Load())
	if wake := l.wake.Load(); wake != 0 {
		longest = max(longest, now(l.clock).Sub(protocol.Instant(wake)))
	}
	return longest
}

// Valid tells whether the conservative deadline is ahead: nobody else has been granted the
// resource as long as both clocks keep to the bound of [Drift]. It reads the clock on each
// call. It is a hint even so: the process can be stopped between the answer and what is
// done with it, so what is written has to compare the token.
func (l *Lease) Valid() bool { return l.Remaining() > 0 }

// Remaining returns the time until the conservative deadline, 0 once it has passed or the
// lease is over.
func (l *Lease) Remaining() time.Duration {
	return max(0, protocol.Instant(l.deadline.Load()).Sub(now(l.clock)))
}

// Begin returns nil if work that takes up to minRemaining may start now. Use it before what
// cannot be fenced and must not start late. Errors match [ErrLeaseExpired] if less is left, and
// [ErrUncertain] if it is not certain that the lease is held, which work that runs does not
// have to mind until its deadline.
func (l *Lease) Begin(minRemaining time.Duration) error {
	if l.uncertain.Load() {
		return fmt.Errorf("%w: no new work of %s before a renewal is answered", ErrUncertain, l.token.Resource())
	}
	if left := l.Remaining(); left <= 0 || left < minRemaining {
		return fmt.Errorf("fencedb: work of %s wants %v and the lease has %v left: %w", l.token.Resource(), minRemaining, left, ErrLeaseExpired)
	}
	return nil
}

// now reads a clock. Zero is no instant, and a clock may start at 0.
func now(c Clock) protocol.Instant { return protocol.Instant(c.Now()) + 1 }

type leaseKey struct{}

// LeaseFrom returns the lease under whose [Hold] ctx was made.
func LeaseFrom(ctx context.Context) (*Lease, bool) {
	l, ok := ctx.Value(leaseKey{}).(*Lease)
	return l, ok
}
