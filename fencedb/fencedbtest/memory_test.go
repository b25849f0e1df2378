package fencedbtest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
)

func request(grant string) fencedb.AcquireRequest {
	return fencedb.AcquireRequest{Resource: "r", GrantID: grant, Owner: "owner-" + grant, TTL: 10 * time.Second}
}

func always(p fencedbtest.FaultPlan) fencedbtest.Faults {
	return func(context.Context, fencedbtest.Call) fencedbtest.FaultPlan { return p }
}

// What becomes of a request, and of its answer, are two things.
func TestFaults(t *testing.T) {
	refusal := errors.New("refused by the test")
	for name, c := range map[string]struct {
		plan    fencedbtest.FaultPlan
		within  time.Duration // of the context; 0 for none
		took    time.Duration
		err     error // nil: granted
		applied bool  // a minute later
	}{
		"none":                  {applied: true},
		"not sent":              {plan: fencedbtest.FaultPlan{NotSent: true}, err: fencedb.ErrNotSent},
		"refused":               {plan: fencedbtest.FaultPlan{BeforeDelay: time.Second, Err: refusal, AfterDelay: time.Second}, took: 2 * time.Second, err: refusal},
		"slow both ways":        {plan: fencedbtest.FaultPlan{BeforeDelay: time.Second, AfterDelay: 2 * time.Second}, within: 4 * time.Second, took: 3 * time.Second, applied: true},
		"request arrives later": {plan: fencedbtest.FaultPlan{BeforeDelay: 3 * time.Second}, within: time.Second, took: time.Second, err: context.DeadlineExceeded, applied: true},
		"reply arrives later":   {plan: fencedbtest.FaultPlan{AfterDelay: 3 * time.Second}, within: time.Second, took: time.Second, err: context.DeadlineExceeded, applied: true},
		"request lost":          {plan: fencedbtest.FaultPlan{LoseRequest: true}, within: time.Second, took: time.Second, err: context.DeadlineExceeded},
		"reply lost":            {plan: fencedbtest.FaultPlan{LoseReply: true}, within: time.Second, took: time.Second, err: context.DeadlineExceeded, applied: true},
		"reply lost, reset":     {plan: fencedbtest.FaultPlan{LoseReply: true, AfterDelay: time.Second, Err: refusal}, took: time.Second, err: refusal, applied: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				coordinator := fencedbtest.NewCoordinator("ns", fencedbtest.WithFaults(always(c.plan)))
				ctx := t.Context()
				if c.within > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.within)
					defer cancel()
				}
				start := time.Now()
				g, err := coordinator.Acquire(ctx, request("g"))
				if took := time.Since(start); took != c.took {
					t.Errorf("it took %v, want %v", took, c.took)
				}
				if !errors.Is(err, c.err) || (c.err == nil) != (g.Token.Value() == 1) {
					t.Errorf("granted %v, %v; want error %v", g.Token, err, c.err)
				}
				if errors.Is(c.err, context.DeadlineExceeded) && errors.Is(err, fencedb.ErrNotSent) {
					t.Errorf("%v says that the request was not sent", err)
				}
				time.Sleep(time.Minute)
				if got := len(coordinator.History()) == 1; got != c.applied {
					t.Errorf("carried out: %v, want %v", got, c.applied)
				}
			})
		})
	}
}

// A fault meets the requests of one handle, and knows which one it is.
func TestFaultsOfOneHandle(t *testing.T) {
	var seen []fencedbtest.Call
	healthy := fencedbtest.NewCoordinator("ns")
	faulty := healthy.Handle(func(_ context.Context, c fencedbtest.Call) fencedbtest.FaultPlan {
		seen = append(seen, c)
		return fencedbtest.FaultPlan{NotSent: c.Op == fencedbtest.OpRenew && c.N == 2}
	})
	g, err := faulty.Acquire(t.Context(), request("g"))
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []error{nil, fencedb.ErrNotSent, nil} {
		if _, err := faulty.Renew(t.Context(), fencedb.RenewRequest{Token: g.Token, TTL: time.Second}); !errors.Is(err, want) {
			t.Errorf("renewal %d: %v, want %v", n+1, err, want)
		}
	}
	if _, err := healthy.Renew(t.Context(), fencedb.RenewRequest{Token: g.Token, TTL: time.Second}); err != nil {
		t.Errorf("a renewal by the handle without faults: %v", err)
	}
	if err := faulty.Release(t.Context(), g.Token); err != nil {
		t.Error(err)
	}
	if len(seen) != 5 || seen[0] != (fencedbtest.Call{Op: "acquire", Resource: "r", Owner: "owner-g", GrantID: "g", N: 1}) ||
		seen[4] != (fencedbtest.Call{Op: "release", Resource: "r", GrantID: "g", Token: g.Token, N: 1}) {
		t.Errorf("the faults saw %+v", seen)
	}
}

// The store's clock may be fast, and may jump.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fencedbtest.NewCoordinator("ns", fencedbtest.WithClockRate(2))
		if _, err := c.Acquire(t.Context(), request("g")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Second)
		var held *fencedb.HeldError
		if _, err := c.Acquire(t.Context(), request("h")); !errors.As(err, &held) || held.FreeIn != 2*time.Second {
			t.Errorf("after 8 of 10 seconds: %v", err)
		}
		c.AdvanceClock(2 * time.Second)
		if _, err := c.Acquire(t.Context(), request("h")); err != nil {
			t.Errorf("after 10 of 10 seconds: %v", err)
		}
	})
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := fencedbtest.NewCoordinator("ns", fencedbtest.WithClock(func() time.Time { return at }))
	g, err := c.Acquire(t.Context(), request("g"))
	if err != nil || !g.At.Equal(at) {
		t.Errorf("granted at %v, %v; want %v", g.At, err, at)
	}
	if h := c.History(); len(h) != 1 || h[0] != (fencedbtest.PastGrant{Token: g.Token, Owner: "owner-g", At: at}) {
		t.Errorf("the history is %+v", h)
	}
}

// A restore from a backup sets the counter back; Advance puts that right.
func TestSnapshotAndAdvance(t *testing.T) {
	c := fencedbtest.NewCoordinator("ns")
	next := func(grant string) fencedb.Token {
		t.Helper()
		g, err := c.Acquire(t.Context(), request(grant))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Release(t.Context(), g.Token); err != nil {
			t.Fatal(err)
		}
		return g.Token
	}
	next("a")
	restore := c.Snapshot()
	b := next("b")
	restore()
	if again := next("c"); again.Value() != b.Value() {
		t.Errorf("after a restore, token %d, want %d a second time", again.Value(), b.Value())
	}
	restore()
	if err := c.Advance(b.Value()); err != nil {
		t.Fatal(err)
	}
	if d := next("d"); d.Value() <= b.Value() || d.Incarnation() != 1 {
		t.Errorf("after Advance, token %d of incarnation %d", d.Value(), d.Incarnation())
	}
	if err := c.Advance(1<<63 - 1); !errors.Is(err, fencedb.ErrRefused) {
		t.Errorf("above all tokens: %v", err)
	}
}

// An operator's break ends a lease; the next grant waits for its time, unless told not to.
func TestBreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fencedbtest.NewCoordinator("ns")
		if _, err := c.Break("r", false); !errors.Is(err, fencedb.ErrReleased) {
			t.Errorf("nothing to break: %v", err)
		}
		g, err := c.Acquire(t.Context(), request("g"))
		if err != nil {
			t.Fatal(err)
		}
		drawn, err := c.Break("r", false)
		if err != nil || drawn <= g.Token.Value() {
			t.Errorf("the break drew %d, %v", drawn, err)
		}
		if _, err := c.Renew(t.Context(), fencedb.RenewRequest{Token: g.Token, TTL: time.Second}); !errors.Is(err, fencedb.ErrReleased) {
			t.Errorf("a renewal after the break: %v", err)
		}
		var held *fencedb.HeldError
		if _, err := c.Acquire(t.Context(), request("h")); !errors.As(err, &held) || held.End != "broken" || held.FreeIn != 10*time.Second {
			t.Errorf("an acquire after the break: %v", err)
		}
		if _, err := c.Break("r", true); err != nil {
			t.Fatal(err)
		}
		h, err := c.Acquire(t.Context(), request("h"))
		if err != nil || h.Token.Value() <= drawn || h.Predecessor.End != "broken" {
			t.Errorf("an acquire after the break without delay: %+v, %v", h, err)
		}
	})
}

// A grant raises guards in its own step if it was told to, and is not made if it cannot.
func TestGrantRaises(t *testing.T) {
	c := fencedbtest.NewCoordinator("ns", fencedbtest.WithGrantRaises())
	g, other := fencedbtest.NewGuard(nil), fencedbtest.NewGuard(nil)
	r := request("g")
	r.Guards = []fencedb.Guard{g, struct{ fencedb.Guard }{other}}
	grant, err := c.Acquire(t.Context(), r)
	if err != nil || len(grant.Raised) != 2 || !grant.Raised[0] || grant.Raised[1] {
		t.Fatalf("granted %+v, %v", grant, err)
	}
	if err := g.Write(t.Context(), grant.Token); err != nil {
		t.Errorf("a write with the token of the grant: %v", err)
	}
	if err := other.Write(t.Context(), grant.Token); !errors.Is(err, fencedb.ErrNotGranted) {
		t.Errorf("a write where the guard is left to the holder: %v", err)
	}
	if err := c.Release(t.Context(), grant.Token); err != nil {
		t.Fatal(err)
	}
	if err := g.Raise(t.Context(), fencedbtest.Token("r", 100)); err != nil {
		t.Fatal(err)
	}
	r.GrantID = "h"
	var regression *fencedb.RegressionError
	if _, err := c.Acquire(t.Context(), r); !errors.As(err, &regression) || regression.Known != 100 || regression.Source != "guard" {
		t.Errorf("a grant below the guard: %v", err)
	}
	if h := c.History(); len(h) != 1 {
		t.Errorf("the history is %+v", h)
	}
	// A write under way is waited for, as long as the context wants.
	ctx, cancel := context.WithCancel(t.Context())
	err = g.InScope(t.Context(), fencedbtest.Token("r", 100), func() error {
		cancel()
		if _, err := c.Acquire(ctx, request("i")); !errors.Is(err, context.Canceled) {
			t.Errorf("an acquire whose context has ended: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := c.Acquire(ctx, r); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("an acquire during a write: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
