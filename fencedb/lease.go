package fencedb

import "time"

// A LossReason says why a lease was lost.
type LossReason string

// The reasons. Lost tells what is certain from what is not: after LossExpired, LossSuperseded
// and LossReleased the coordinator has, or will have, another idea of who the holder is;
// after LossUnreachable nobody may have taken the holder's place.
const (
	LossExpired     LossReason = "expired"     // its time ran out: the process stood still, or the work took too long to stop
	LossUnreachable LossReason = "unreachable" // its time ran out while no renewal was answered
	LossSuperseded  LossReason = "superseded"  // the coordinator, or a guard, knows a later grant
	LossReleased    LossReason = "released"    // the grant was released by somebody else, or broken by an operator
	LossAmbiguous   LossReason = "ambiguous"   // a renewal was ambiguous, and OnAmbiguous(Abort) was asked for
	LossPanicked    LossReason = "panicked"    // the work panicked, or called runtime.Goexit
)

// A Lease is the ownership that work under [Hold] has.
type Lease struct{ token Token }

// Token returns the grant's token.
func (l *Lease) Token() Token { return l.token }

// Valid tells whether it is certain, at this moment, that nobody else was granted the resource.
func (l *Lease) Valid() bool { return false }

// Remaining returns the time until the conservative deadline, 0 once it has passed.
func (l *Lease) Remaining() time.Duration { return 0 }
