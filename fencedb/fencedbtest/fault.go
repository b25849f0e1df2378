package fencedbtest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/fencelint/fence/fencedb"
)

// An Op is what a [Coordinator] or a [Guard] is asked to do.
type Op string

// The operations, of a Coordinator and of a Guard.
const (
	OpAcquire Op = "acquire"
	OpRenew   Op = "renew"
	OpRelease Op = "release"
	OpObserve Op = "observe"
	OpRaise   Op = "raise"
	OpWrite   Op = "write"
)

// A Call is one request, as a [Faults] function sees it before it is sent.
type Call struct {
	Op       Op
	Resource string
	Owner    string        // of an acquire
	GrantID  string        // empty for observe
	Token    fencedb.Token // zero for acquire and observe
	N        int           // how many requests with this Op this handle, or guard, has had, this one included
}

// A FaultPlan says what becomes of one request and of its answer. The zero FaultPlan is a
// network without faults. Delays are by the clock of package time, not by the coordinator's.
type FaultPlan struct {
	// NotSent has the request fail at once by [fencedb.ErrNotSent]. Nothing is done.
	NotSent bool

	// BeforeDelay is how long the request travels. One whose context ends meanwhile is
	// still carried out when it arrives, as one that is in the network's buffers is.
	BeforeDelay time.Duration

	// LoseRequest has the request never arrive. The call returns when its context ends.
	LoseRequest bool

	// AfterDelay is how long the answer travels. A request whose context ends meanwhile
	// has been carried out.
	AfterDelay time.Duration

	// LoseReply has the request carried out and its answer lost. The call returns when
	// its context ends, or with Err after AfterDelay.
	LoseReply bool

	// Err, if it is not nil, is the answer, after both delays. Nothing is done, unless
	// LoseReply says that only the answer is lost.
	Err error
}

// Faults decides what becomes of a request. It is called before the request is sent, in the
// goroutine that makes it, and by several of them at once. Nil is a network without faults.
type Faults func(context.Context, Call) FaultPlan

// A network sends the requests of one handle.
type network struct {
	faults Faults
	mu     sync.Mutex
	sent   map[Op]int
}

func (n *network) plan(ctx context.Context, c Call) FaultPlan {
	n.mu.Lock()
	if n.sent == nil {
		n.sent = make(map[Op]int)
	}
	n.sent[c.Op]++
	c.N = n.sent[c.Op]
	n.mu.Unlock()
	if n.faults == nil {
		return FaultPlan{}
	}
	return n.faults(ctx, c)
}

// send has do carried out as the plan for the call says.
func send[T any](ctx context.Context, n *network, c Call, do func() (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, fmt.Errorf("%w: %s of %s: %w", fencedb.ErrNotSent, c.Op, c.Resource, err)
	}
	p := n.plan(ctx, c)
	if p.NotSent {
		return none, fmt.Errorf("%w: %s of %s: the test's faults say so", fencedb.ErrNotSent, c.Op, c.Resource)
	}
	carry := do
	if p.Err != nil {
		carry = func() (T, error) {
			if p.LoseReply {
				_, _ = do() // its answer is what is lost
			}
			return none, p.Err
		}
	}
	gone := func() error { return fmt.Errorf("fencedbtest: no answer to %s of %s: %w", c.Op, c.Resource, ctx.Err()) }
	if p.LoseRequest && p.Err == nil {
		<-ctx.Done()
		return none, gone()
	}

	type answer struct {
		value T
		err   error
	}
	arrived := make(chan answer, 1) // a timer never waits for a caller that has gone
	deliver := func() {
		v, err := carry()
		arrived <- answer{v, err}
	}
	if p.BeforeDelay > 0 {
		time.AfterFunc(p.BeforeDelay, deliver)
	} else {
		deliver()
	}
	var a answer
	select {
	case a = <-arrived:
	default:
		select {
		case a = <-arrived:
		case <-ctx.Done():
			return none, gone()
		}
	}
	if p.LoseReply && p.Err == nil {
		<-ctx.Done()
		return none, gone()
	}
	if err := sleep(ctx, p.AfterDelay); err != nil {
		return none, gone()
	}
	return a.value, a.err
}

// sleep waits for d, or until ctx ends, which is its error.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
