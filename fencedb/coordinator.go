package fencedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fencelint/fence/fencedb/protocol"
)

// A Coordinator grants leases and renews them: a database (package sqllease), an etcd
// cluster (module etcdlease). [Hold] asks it; few programs call it themselves. Any number
// of goroutines may use one.
//
// What every Coordinator promises is what fencedbtest.RunCoordinator tests:
//
//   - The tokens of a namespace are unique, and each is larger than every one granted
//     before it, also after a crash, a failover and a clean-up of old leases.
//   - One grant of a resource at a time is unexpired by the coordinator's clock.
//   - Requests may be made again: Acquire with the same grant id gives the same token,
//     and so on; the answer to the first may have been lost.
//   - A call returns soon after its context ends. Its error then says nothing about
//     whether the request was carried out, unless it matches [ErrNotSent].
type Coordinator interface {
	// Namespace names the resources whose tokens come from one counter.
	Namespace() string

	// Acquire asks for a grant, once, and does not wait for the resource to be free.
	// Errors: a [*HeldError], which matches [ErrHeld], while another holds the resource
	// or may still act on it; [ErrLeaseExpired] or [ErrReleased] if the resource's last
	// grant had this id and has ended (an earlier one's id may be granted again, with a
	// new token); one that matches [ErrRefused] if asking again does not help;
	// [ErrNotSent] if the request did not leave; any other says that the outcome is not
	// known.
	Acquire(ctx context.Context, r AcquireRequest) (Grant, error)

	// Renew makes a grant last for the request's TTL from now by the coordinator's clock,
	// and never shortens it. Errors: [ErrSuperseded], [ErrLeaseExpired] (also if nobody
	// took its place) and [ErrReleased] are certain and final; [ErrNotSent] is certain;
	// any other says that the outcome is not known.
	Renew(ctx context.Context, r RenewRequest) (Renewal, error)

	// Release ends a grant and frees its resource at once. The grant's work must be over.
	// A grant that has ended is left as it is, which is no error if it was released and
	// nobody was granted the resource since. Errors are Renew's.
	Release(ctx context.Context, t Token) error

	// Observe tells who holds a resource, without asking for it.
	Observe(ctx context.Context, resource string) (Observation, error)
}

// An AcquireRequest asks for a grant.
type AcquireRequest struct {
	Resource string
	GrantID  string // random, see [Token.Grant]; the same when the request is made again
	Owner    string // names the holder to people; two holders may have one name

	// TTL is how long the grant lasts unless it is renewed, by the coordinator's clock.
	// A coordinator may grant another one and says which.
	TTL time.Duration

	// LockDelay is how long after the grant has expired nobody else is granted the
	// resource. It gives requests that are under way time to arrive, where what they
	// change compares no token. A release ends at once.
	LockDelay time.Duration

	// Usable is how much of TTL the holder itself counts on. Status pages show it.
	Usable time.Duration

	// Guards are to be raised before the work starts. A coordinator raises those it can
	// in the grant's own transaction ([TxGuard]) and leaves the others to the holder.
	Guards []Guard
}

// A Grant is the answer to an [AcquireRequest].
type Grant struct {
	Token Token
	TTL   time.Duration // as granted

	// Repeated says that the grant was made before, for an earlier request with the same
	// id: the holder has to count TTL from when it first asked.
	Repeated bool

	Raised      []bool      // Raised[i]: the request's Guards[i] is raised; it may be shorter than Guards
	At          time.Time   // by the coordinator's clock
	Transaction string      // names the transaction of the grant in the store's own terms; empty if it has no name
	Predecessor Predecessor // the grant before
}

// A Predecessor is the grant that ended before another one of the same resource. The zero
// Predecessor says that there was none.
type Predecessor struct {
	Value   int64 // of its token
	GrantID string
	Owner   string
	End     string    // "released", "expired" or "broken"
	Renewed time.Time // when it was renewed last, or granted
	Ended   time.Time // when it expired or was released, by the coordinator's clock
}

// A RenewRequest asks that a grant lasts longer.
type RenewRequest struct {
	Token  Token
	TTL    time.Duration
	Usable time.Duration // see AcquireRequest
}

// A Renewal is the answer to a [RenewRequest].
type Renewal struct {
	TTL   time.Duration // as granted, from At
	At    time.Time     // by the coordinator's clock
	Count int64         // how often the grant was renewed, this time included
}

// An Observation is what a coordinator knew of a resource at one moment of its own clock.
type Observation struct {
	Namespace   string
	Resource    string
	At          time.Time // the moment
	Held        bool      // somebody holds it
	Token       Token     // of the last grant; zero if there was none
	Owner       string    // of the last grant
	End         string    // how the last grant ended: "", "released", "broken" or "expired"
	Granted     time.Time
	Renewed     time.Time // last, or granted
	Expires     time.Time // when the last grant ends, or has ended
	Renewals    int64
	TTL         time.Duration
	Usable      time.Duration // how much of TTL its holder counts on
	LockDelay   time.Duration
	Free        time.Time   // the earliest moment at which another can be granted if nothing happens until then
	Predecessor Predecessor // of the last grant
}

// TakeoverIn returns how long it takes, from the moment of the observation, until another
// can be granted the resource if its holder does nothing: 0 if one can be granted now.
func (o Observation) TakeoverIn() time.Duration { return max(0, o.Free.Sub(o.At)) }

// Remaining returns how much is left of the holder's own time, which ends first, and of the
// coordinator's, at the moment of the observation. The former is an upper bound: the
// holder counts from when it asked. Both are 0 if nobody holds the resource.
func (o Observation) Remaining() (conservative, store time.Duration) {
	if !o.Held {
		return 0, 0
	}
	return max(0, o.Renewed.Add(o.Usable).Sub(o.At)), max(0, o.Expires.Sub(o.At))
}

// A TxGuard is a [Guard] that a coordinator in the same database can raise in the
// transaction of the grant. [GuardTable.On] gives one.
type TxGuard interface {
	Guard
	// In tells whether the guard's rows are in db.
	In(db Beginner) bool
	// WaitIn waits in tx for the writers of the resource, and keeps new ones out until tx
	// ends. It comes before the token is drawn, since the counter keeps other grants waiting.
	WaitIn(ctx context.Context, tx *sql.Tx, resource string) error
	// RaiseIn raises the guard in tx. Errors are those of [Guard], after which tx has to
	// be rolled back.
	RaiseIn(ctx context.Context, tx *sql.Tx, t Token) error
}

// The outcomes of leases, to be tested with [errors.Is].
var (
	// ErrHeld says that another holds the resource, or that its holder may still act on
	// it. It arrives as a [*HeldError].
	ErrHeld = errors.New("fencedb: the resource is held")

	// ErrLeaseExpired says that a lease was not renewed in time.
	ErrLeaseExpired = errors.New("fencedb: the lease has expired")

	// ErrSuperseded says that the resource was granted to another.
	ErrSuperseded = errors.New("fencedb: the lease was superseded by a later grant")

	// ErrReleased says that the grant was ended by a release, or by an operator.
	ErrReleased = errors.New("fencedb: the lease was released")

	// ErrNotSent says that a request did not leave: there was no connection to send it
	// on. It was not carried out and will not be.
	ErrNotSent = errors.New("fencedb: the request was not sent")

	// ErrRefused says that a coordinator cannot do what it was asked, and that asking
	// again does not help: its tables are missing or have another version, the request is
	// malformed, the resource belongs to another namespace. The error says what to do.
	ErrRefused = errors.New("fencedb: the coordinator refused the request")

	// ErrTokenRegression says that a grant's token is not above one that was known
	// before: the coordinator has forgotten some, since it was restored from an old
	// snapshot. It arrives as a [*RegressionError].
	ErrTokenRegression = errors.New("fencedb: the coordinator's tokens have gone back")
)

// Quarantined is the End of a [HeldError] while nothing is granted, after a store has lost
// what it knew of earlier grants: their holders may still be at work.
const Quarantined = "quarantined"

// refusals are what the answers of a coordinator's record are to who asked.
var refusals = map[protocol.Answer]error{
	protocol.NoExpired:    ErrLeaseExpired,
	protocol.NoReleased:   ErrReleased,
	protocol.NoBroken:     ErrReleased,
	protocol.NoSuperseded: ErrSuperseded,
}

// Refusal is for coordinators: it returns the error that a no of their record is, with the
// resource. An answer that is no refusal, or that needs a [*HeldError], gives one that
// matches [ErrRefused].
func Refusal(a protocol.Answer, resource string) error {
	err, ok := refusals[a]
	if !ok {
		return fmt.Errorf("%w: %s: answer %d of package protocol means nothing here", ErrRefused, resource, a)
	}
	return fmt.Errorf("%w: %s", err, resource)
}

// A HeldError says who holds a resource that was asked for. It matches [ErrHeld].
type HeldError struct {
	Resource string
	Owner    string        // of the last grant
	Value    int64         // of its token
	End      string        // empty while it is held; "expired" or "broken" during a lock-delay; [Quarantined]
	FreeIn   time.Duration // when another can be granted if the holder does nothing, by the coordinator's clock
}

// Error says who holds what, and for how long.
func (e *HeldError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "fencedb: %s is held by %q with token %d", e.Resource, e.Owner, e.Value)
	if e.End != "" {
		fmt.Fprintf(&b, " (%s)", e.End)
	}
	fmt.Fprintf(&b, "; it can be free in %v", e.FreeIn)
	return b.String()
}

// Is makes a HeldError match [ErrHeld].
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// A RegressionError is a grant that was given back, or not made, because its token is not
// above what was known. It matches [ErrTokenRegression] and [ErrRefused].
type RegressionError struct {
	Namespace string
	Resource  string
	Granted   int64  // the token of the grant, or the counter's
	Known     int64  // what it is not above
	Source    string // who knows: "client" (this process), "guard", "lease" (the resource's last grant), "witness"
}

// Error says what is known, by whom, and what to do.
func (e *RegressionError) Error() string {
	return fmt.Sprintf("fencedb: the coordinator of namespace %q granted token %d of %s, but %d is known already (%s): it was restored from an old state. Start a new incarnation above %d before it grants again",
		e.Namespace, e.Granted, e.Resource, e.Known, e.Source, e.Known)
}

// Is makes a RegressionError match [ErrTokenRegression] and [ErrRefused].
func (e *RegressionError) Is(target error) bool {
	return target == ErrTokenRegression || target == ErrRefused
}
