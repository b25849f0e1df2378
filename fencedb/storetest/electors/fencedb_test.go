package electors

import (
	"context"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
	"github.com/fencelint/fence/fencedb/protocol"
)

// holds are candidates by fencedb.Hold, whose coordinator is in memory.
type holds struct {
	bare        bool    // no drift bound, no margin
	fromReply   bool    // the deadline counts from the answer
	holder      float64 // rate of the first candidate's clock; 1 if it is 0
	coordinator float64 // rate of the coordinator's; 1 if it is 0
}

func (h holds) open(*testing.T) func() campaign {
	return func() campaign {
		store := fencedbtest.NewCoordinator("electors", fencedbtest.WithClockRate(rate(h.coordinator)))
		return func(ctx context.Context, id string, n *network, elected func(term)) error {
			clock := clock{rate: 1}
			if id == "first" {
				clock.rate = rate(h.holder)
			}
			drift := fencedb.DefaultDrift
			options := []fencedb.HoldOption{fencedb.WithClock(clock), fencedb.Owner(id)}
			if h.bare {
				drift = 0
				options = append(options, fencedb.Margin(0))
			}
			var c fencedb.Coordinator = store.Handle(n.plan)
			if h.fromReply {
				c = fromReply{c, int64(drift * 1e6)}
			}
			return fencedb.Hold(ctx, c, "orders:daily", func(ctx context.Context, lease *fencedb.Lease) error {
				// Either counts: work may go by its context or by the lease.
				elected(term{over: ctx.Done(), believes: func() bool { return ctx.Err() == nil || lease.Valid() }})
				<-ctx.Done()
				return nil
			}, append(options, fencedb.Drift(drift))...)
		}
	}
}

func rate(r float64) float64 {
	if r == 0 {
		return 1
	}
	return r
}

// plan is the network's verdict as fencedbtest has it.
func (n *network) plan(_ context.Context, c fencedbtest.Call) fencedbtest.FaultPlan {
	lost, late := n.send(c.Op == fencedbtest.OpRenew)
	return fencedbtest.FaultPlan{LoseRequest: lost, BeforeDelay: latency, AfterDelay: latency + late}
}

// fromReply has a holder count from the answer instead of from before the request: the TTL that
// it is told is longer by as much as makes its deadline later by the time that the answer took.
type fromReply struct {
	fencedb.Coordinator
	drift int64 // the holder's bound, in parts per million
}

func (c fromReply) since(sent time.Time) time.Duration {
	return protocol.Stretch(time.Since(sent), c.drift)
}

func (c fromReply) Acquire(ctx context.Context, r fencedb.AcquireRequest) (fencedb.Grant, error) {
	sent := time.Now()
	g, err := c.Coordinator.Acquire(ctx, r)
	g.TTL += c.since(sent)
	return g, err
}

func (c fromReply) Renew(ctx context.Context, r fencedb.RenewRequest) (fencedb.Renewal, error) {
	sent := time.Now()
	renewal, err := c.Coordinator.Renew(ctx, r)
	renewal.TTL += c.since(sent)
	return renewal, err
}

// A clock is a process's own in a bubble of testing/synctest, where only package time is virtual.
type clock struct{ rate float64 }

var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (c clock) Now() time.Duration { return time.Duration(float64(time.Since(start)) * c.rate) }

func (c clock) Suspended() time.Duration { return 0 }

func (c clock) Wall() time.Time { return start.Add(c.Now()) }
