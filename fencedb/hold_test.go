package fencedb_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
)

// bubbleClock is a process's clock in a synctest bubble, where only package time is virtual.
type bubbleClock struct {
	rate      float64
	suspended atomic.Int64
	step      atomic.Int64 // of the wall clock
}

var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (c *bubbleClock) Now() time.Duration {
	rate := c.rate
	if rate == 0 {
		rate = 1
	}
	return time.Duration(float64(time.Since(bubbleStart))*rate) + c.Suspended()
}

func (c *bubbleClock) Suspended() time.Duration { return time.Duration(c.suspended.Load()) }

func (c *bubbleClock) Wall() time.Time {
	return bubbleStart.Add(c.Now() + time.Duration(c.step.Load()))
}

// receipts keeps what an observer was told, as text.
type receipts struct {
	mu    sync.Mutex
	lines []string
}

func (r *receipts) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *receipts) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines, "\n")
}

func (r *receipts) observer() *fencedb.Observer {
	return &fencedb.Observer{
		Attempt: func(_ context.Context, a fencedb.AttemptReceipt) { r.add("attempt %s", a.Outcome) },
		Grant:   func(_ context.Context, g fencedb.GrantReceipt) { r.add("grant, guards %d", g.Guards) },
		Renew:   func(_ context.Context, n fencedb.RenewReceipt) { r.add("renew %s", n.Outcome) },
		Uncertain: func(_ context.Context, u fencedb.UncertainReceipt) {
			r.add("uncertain %v %s %v", u.Uncertain, u.Cause, u.Jump)
		},
		End: func(_ context.Context, e fencedb.EndReceipt) {
			r.add("end %q running %v release %s", e.Reason, e.WorkStillRunning, e.Release)
		},
	}
}

const daily = "orders:daily"

// The defaults: a grant of 15 s is valid for 15*0.95/1.05 - 1 s from when it was sent.
const validFor = 13571428*time.Microsecond - time.Second

func clocked(opts ...fencedb.HoldOption) []fencedb.HoldOption {
	return append([]fencedb.HoldOption{fencedb.WithClock(&bubbleClock{})}, opts...)
}

func held(t *testing.T, c fencedb.Coordinator) bool {
	t.Helper()
	o, err := c.Observe(context.Background(), daily)
	if err != nil {
		t.Fatal(err)
	}
	return o.Held
}

func TestHoldReleasesAfterTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fencedbtest.NewCoordinator("default")
		var got receipts
		var kept *fencedb.Lease
		work := errors.New("work")
		for i, want := range []error{nil, work} {
			err := fencedb.Hold(t.Context(), c, daily, func(ctx context.Context, l *fencedb.Lease) error {
				kept = l
				if !l.Valid() || l.Remaining() != validFor || l.Token().Counter() != int64(i+1) || l.Raised() {
					t.Errorf("valid %v, remaining %v, token %v, raised %v", l.Valid(), l.Remaining(), l.Token(), l.Raised())
				}
				if from, ok := fencedb.LeaseFrom(ctx); !ok || from != l {
					t.Error("the context does not hold the lease")
				}
				if !held(t, c) {
					t.Error("the work runs and nobody holds the lease")
				}
				time.Sleep(time.Minute)
				if !l.Valid() {
					t.Error("the lease was not renewed")
				}
				return want
			}, clocked(fencedb.WithObserver(got.observer()))...)
			if err != want { //nolint:errorlint // as it is, not wrapped
				t.Errorf("Hold returned %v, want %v as it is", err, want)
			}
			if held(t, c) || kept.Valid() || kept.Remaining() != 0 {
				t.Error("the lease outlives Hold")
			}
		}
		if s := got.String(); strings.Count(s, "renew ok") < 20 || !strings.HasSuffix(s, `end "" running false release released`) {
			t.Errorf("receipts:\n%s", s)
		}
	})
}

func TestTryHoldDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fencedbtest.NewCoordinator("default")
		err := fencedb.Hold(t.Context(), c, daily, func(ctx context.Context, _ *fencedb.Lease) error {
			start := time.Now()
			err := fencedb.TryHold(ctx, c, daily, nothing, clocked()...)
			var busy *fencedb.HeldError
			if !errors.As(err, &busy) || !errors.Is(err, fencedb.ErrHeld) || busy.Owner != "ada" || busy.FreeIn != 15*time.Second {
				t.Errorf("TryHold: %v", err)
			}
			if time.Since(start) != 0 {
				t.Error("TryHold waited")
			}
			return nil
		}, clocked(fencedb.Owner("ada"))...)
		if err != nil {
			t.Fatal(err)
		}
	})
}

func nothing(context.Context, *fencedb.Lease) error { return nil }

func TestHoldWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fencedbtest.NewCoordinator("default")
		var running, most atomic.Int32
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				err := fencedb.Hold(t.Context(), c, daily, func(context.Context, *fencedb.Lease) error {
					most.Store(max(most.Load(), running.Add(1)))
					time.Sleep(7 * time.Second)
					running.Add(-1)
					return nil
				}, clocked(fencedb.Owner("the same name"))...)
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if n := len(c.History()); n != 20 || most.Load() != 1 {
			t.Errorf("%d grants, at most %d at once", n, most.Load())
		}
	})
}

// A coordinator that falls silent: the context ends at the deadline that the last answered
// renewal proved, counted from when it was sent.
func TestUnreachableEndsAtTheConservativeDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var silent atomic.Bool
		var last atomic.Int64 // when the last renewal that was answered was sent
		c := fencedbtest.NewCoordinator("default", fencedbtest.WithFaults(func(_ context.Context, call fencedbtest.Call) fencedbtest.FaultPlan {
			if silent.Load() {
				return fencedbtest.FaultPlan{LoseRequest: true}
			}
			if call.Op == fencedbtest.OpRenew || call.Op == fencedbtest.OpAcquire {
				last.Store(time.Now().UnixNano())
			}
			return fencedbtest.FaultPlan{AfterDelay: 2 * time.Second}
		}))
		err := fencedb.Hold(t.Context(), c, daily, func(ctx context.Context, l *fencedb.Lease) error {
			time.Sleep(30 * time.Second)
			silent.Store(true)
			<-ctx.Done()
			if got := time.Since(time.Unix(0, last.Load())); got < validFor || got > validFor+time.Microsecond {
				t.Errorf("the context ended %v after the last renewal was sent, want %v", got, validFor)
			}
			if l.Valid() || !errors.Is(context.Cause(ctx), fencedb.ErrLeaseExpired) {
				t.Errorf("valid %v, cause %v", l.Valid(), context.Cause(ctx))
			}
			return nil
		}, clocked()...)
		var lost *fencedb.LostError
		if !errors.As(err, &lost) || lost.Reason != fencedb.LossUnreachable || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Hold returned %v", err)
		}
	})
}

// An ambiguous renewal extends nothing, whether it was carried out or not.
func TestAmbiguousRenewal(t *testing.T) {
	for name, plan := range map[string]fencedbtest.FaultPlan{
		"carried out": {LoseReply: true},
		"lost":        {LoseRequest: true},
	} {
		for _, abort := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, abort %v", name, abort), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := fencedbtest.NewCoordinator("default", fencedbtest.WithFaults(func(_ context.Context, call fencedbtest.Call) fencedbtest.FaultPlan {
						if call.Op == fencedbtest.OpRenew && call.N == 1 {
							return plan
						}
						return fencedbtest.FaultPlan{}
					}))
					var got receipts
					err := fencedb.Hold(t.Context(), c, daily, func(ctx context.Context, l *fencedb.Lease) error {
						if err := l.Begin(time.Second); err != nil {
							t.Error(err)
						}
						start := time.Now()
						for !l.Uncertain() {
							time.Sleep(10 * time.Millisecond)
						}
						if left := validFor - time.Since(start); l.Remaining() != left && !abort {
							t.Errorf("%v left, want what was proven: %v", l.Remaining(), left)
						}
						if err := l.Begin(0); !errors.Is(err, fencedb.ErrUncertain) {
							t.Errorf("Begin: %v", err)
						}
						if abort {
							return ctx.Err()
						}
						time.Sleep(10 * time.Second)
						if ctx.Err() != nil || l.Uncertain() {
							t.Error("the next renewal does not make it certain")
						}
						return l.Begin(time.Second)
					}, clocked(fencedb.OnAmbiguous(fencedb.Ambiguity(abort)), fencedb.WithObserver(got.observer()))...)
					if abort != errors.Is(err, fencedb.ErrUncertain) || abort != errors.Is(err, context.Canceled) {
						t.Errorf("Hold returned %v", err)
					}
					if !strings.Contains(got.String(), "uncertain true ambiguous_renewal 0s") || !abort && !strings.Contains(got.String(), "uncertain false") {
						t.Errorf("receipts:\n%s", got.String())
					}
				})
			})
		}
	}
}

// A certain no ends the work at once, without waiting for the deadline.
func TestBrokenLeaseIsSuperseded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fencedbtest.NewCoordinator("default")
		err := fencedb.Hold(t.Context(), c, daily, func(ctx context.Context, l *fencedb.Lease) error {
			if _, err := c.Break(daily, true); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			<-ctx.Done()
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("the work was told after %v", took)
			}
			if l.Valid() || !errors.Is(context.Cause(ctx), fencedb.ErrSuperseded) {
				t.Errorf("valid %v, cause %v", l.Valid(), context.Cause(ctx))
			}
			return context.Cause(ctx)
		}, clocked()...)
		var lost *fencedb.LostError
		if !errors.As(err, &lost) || lost.Reason != fencedb.LossReleased {
			t.Errorf("Hold returned %v", err)
		}
	})
}

// Work that does not return normally releases nothing and is not renewed: the lease runs out.
func TestPanicAndGoexitReleaseNothing(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("work") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := fencedbtest.NewCoordinator("default")
				var got receipts
				var lease *fencedb.Lease
				done := make(chan any)
				go func() {
					defer func() { done <- recover() }()
					_ = fencedb.Hold(context.Background(), c, daily, func(_ context.Context, l *fencedb.Lease) error {
						lease = l
						end()
						return nil
					}, clocked(fencedb.WithObserver(got.observer()))...)
					t.Error("Hold returned")
				}()
				if v := <-done; (name == "panic") != (v == "work") {
					t.Errorf("recovered %v", v)
				}
				if lease.Valid() || !held(t, c) {
					t.Errorf("valid %v, held %v", lease.Valid(), held(t, c))
				}
				time.Sleep(15 * time.Second)
				if held(t, c) {
					t.Error("something renews the lease")
				}
				if want := `end "panicked" running false release skipped`; !strings.HasSuffix(got.String(), want) {
					t.Errorf("receipts:\n%s", got.String())
				}
			})
		})
	}
}

// Work that ignores its context: nothing is released, and Hold waits for it.
func TestWorkThatIgnoresItsContext(t *testing.T) {
	for _, canceled := range []bool{false, true} {
		t.Run(fmt.Sprintf("canceled %v", canceled), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var silent atomic.Bool
				c := fencedbtest.NewCoordinator("default", fencedbtest.WithFaults(func(_ context.Context, call fencedbtest.Call) fencedbtest.FaultPlan {
					if silent.Load() && call.Op != fencedbtest.OpObserve {
						return fencedbtest.FaultPlan{LoseRequest: true}
					}
					if call.Op == fencedbtest.OpRelease {
						t.Error("the lease was released")
					}
					return fencedbtest.FaultPlan{}
				}))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var got receipts
				start := time.Now()
				err := fencedb.Hold(ctx, c, daily, func(context.Context, *fencedb.Lease) error {
					if canceled {
						cancel()
					} else {
						silent.Store(true)
					}
					time.Sleep(time.Minute)
					return nil
				}, clocked(fencedb.WithObserver(got.observer()))...)
				if time.Since(start) != time.Minute {
					t.Errorf("Hold returned after %v", time.Since(start))
				}
				want := fencedb.LossUnreachable
				if canceled {
					want = fencedb.LossExpired
				}
				var lost *fencedb.LostError
				if !errors.As(err, &lost) || lost.Reason != want {
					t.Errorf("Hold returned %v", err)
				}
				for _, line := range []string{
					fmt.Sprintf("end %q running true release skipped", want),
					fmt.Sprintf("end %q running false release skipped", want),
				} {
					if strings.Count(got.String(), line) != 1 {
						t.Errorf("want once %q in\n%s", line, got.String())
					}
				}
			})
		})
	}
}

// The caller's context ends at each point at which Hold waits.
func TestCancelAtEveryAwait(t *testing.T) {
	cause := errors.New("shutdown")
	tests := []struct {
		name  string
		plan  func(fencedbtest.Call) fencedbtest.FaultPlan
		guard func(fencedbtest.Call) fencedbtest.FaultPlan
		other bool // another holds the resource
		work  bool
	}{
		{name: "the request travels", plan: slow(fencedbtest.OpAcquire, fencedbtest.FaultPlan{BeforeDelay: 4 * time.Second})},
		{name: "the answer travels", plan: slow(fencedbtest.OpAcquire, fencedbtest.FaultPlan{AfterDelay: 4 * time.Second})},
		{name: "the answer was lost", plan: slow(fencedbtest.OpAcquire, fencedbtest.FaultPlan{LoseReply: true})},
		{name: "nothing was sent", plan: slow(fencedbtest.OpAcquire, fencedbtest.FaultPlan{NotSent: true})},
		{name: "another holds it", other: true},
		{name: "a guard is raised", guard: slow(fencedbtest.OpRaise, fencedbtest.FaultPlan{LoseReply: true})},
		{name: "the work runs", work: true},
		{name: "a renewal is under way", work: true, plan: slow(fencedbtest.OpRenew, fencedbtest.FaultPlan{AfterDelay: 2 * time.Second})},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := fencedbtest.NewCoordinator("default")
				ctx, cancel := context.WithCancelCause(t.Context())
				done := make(chan error, 1)
				if test.other {
					go func() {
						done <- fencedb.Hold(t.Context(), store, daily, func(context.Context, *fencedb.Lease) error {
							time.Sleep(time.Minute)
							return nil
						}, clocked()...)
					}()
					synctest.Wait()
				}
				time.AfterFunc(6*time.Second, func() { cancel(cause) })
				worked := false
				err := fencedb.Hold(ctx, store.Handle(faults(test.plan)), daily, func(ctx context.Context, l *fencedb.Lease) error {
					worked = true
					<-ctx.Done()
					if !l.Valid() {
						t.Error("the lease ended before the work")
					}
					return context.Cause(ctx)
				}, clocked(fencedb.Guards(fencedbtest.NewGuard(faults(test.guard))), fencedb.RenewEvery(5900*time.Millisecond))...)
				if worked != test.work || !errors.Is(err, cause) {
					t.Errorf("worked %v, Hold returned %v", worked, err)
				}
				var lost *fencedb.LostError
				if errors.As(err, &lost) {
					t.Errorf("Hold returned %v", err)
				}
				time.Sleep(5 * time.Second) // what was sent arrives
				if held(t, store) != test.other {
					t.Errorf("held %v", held(t, store))
				}
				if test.other {
					if err := <-done; err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

// slow returns a plan for every request with op before the context of Hold has ended.
func slow(op fencedbtest.Op, plan fencedbtest.FaultPlan) func(fencedbtest.Call) fencedbtest.FaultPlan {
	start := bubbleStart.Add(6 * time.Second)
	return func(c fencedbtest.Call) fencedbtest.FaultPlan {
		if c.Op != op || !time.Now().Before(start) {
			return fencedbtest.FaultPlan{}
		}
		return plan
	}
}

func faults(plan func(fencedbtest.Call) fencedbtest.FaultPlan) fencedbtest.Faults {
	if plan == nil {
		return nil
	}
	return func(_ context.Context, c fencedbtest.Call) fencedbtest.FaultPlan { return plan(c) }
}

// Work starts once every guard knows the token, however long that takes.
func TestWorkWaitsForTheGuards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fencedbtest.NewCoordinator("default")
		slow := fencedbtest.NewGuard(func(_ context.Context, call fencedbtest.Call) fencedbtest.FaultPlan {
			if call.Op == fencedbtest.OpRaise && call.N < 15 {
				return fencedbtest.FaultPlan{LoseRequest: true}
			}
			return fencedbtest.FaultPlan{AfterDelay: time.Second}
		})
		fast := fencedbtest.NewGuard(nil)
		err := fencedb.Hold(t.Context(), c, daily, func(ctx context.Context, l *fencedb.Lease) error {
			if time.Since(bubbleStart) < 40*time.Second {
				t.Error("the guard was not slow")
			}
			if !l.Valid() || !l.Raised() {
				t.Errorf("valid %v, raised %v", l.Valid(), l.Raised())
			}
			return errors.Join(slow.Write(ctx, l.Token()), fast.Write(ctx, l.Token()))
		}, clocked(fencedb.Guards(fast, slow))...)
		if err != nil {
			t.Error(err)
		}
	})
}

// A guard that knows a later token: the coordinator has forgotten it, or another was granted.
func TestGuardThatKnowsMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fencedbtest.NewCoordinator("default")
		g := fencedbtest.NewGuard(nil)
		if err := g.Raise(t.Context(), fencedbtest.Token(daily, 99)); err != nil {
			t.Fatal(err)
		}
		err := fencedb.Hold(t.Context(), c, daily, func(context.Context, *fencedb.Lease) error {
			t.Error("the work ran")
			return nil
		}, clocked(fencedb.Guards(g))...)
		var stale *fencedb.StaleError
		if !errors.Is(err, fencedb.ErrSuperseded) || !errors.As(err, &stale) || stale.Current != 99 || held(t, c) {
			t.Errorf("held %v, Hold returned %v", held(t, c), err)
		}
		// The coordinator knows of no later grant, so its tokens have gone back.
		var regression *fencedb.RegressionError
		if !errors.As(err, &regression) || regression.Granted != 1 || regression.Known != 99 || regression.Source != "guard" {
			t.Errorf("Hold returned %v, want a RegressionError, too", err)
		}
	})
}

// A grant whose answer was lost is read back, and counts from when it was first asked for.
func TestLostGrantIsReadBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fencedbtest.NewCoordinator("default", fencedbtest.WithFaults(func(_ context.Context, call fencedbtest.Call) fencedbtest.FaultPlan {
			if call.Op == fencedbtest.OpAcquire && call.N < 3 {
				return fencedbtest.FaultPlan{LoseReply: true}
			}
			return fencedbtest.FaultPlan{}
		}))
		start := time.Now()
		err := fencedb.Hold(t.Context(), c, daily, func(_ context.Context, l *fencedb.Lease) error {
			if want := validFor - time.Since(start); l.Remaining() != want || time.Since(start) < 6*time.Second {
				t.Errorf("%v left after %v, want %v", l.Remaining(), time.Since(start), want)
			}
			return nil
		}, clocked()...)
		if err != nil || len(c.History()) != 1 {
			t.Errorf("%d grants, Hold returned %v", len(c.History()), err)
		}
	})
}

// A grant that ran out before its answer could be read back is not worked under.
func TestGrantThatWasOverBeforeItWasKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fencedbtest.NewCoordinator("default", fencedbtest.WithFaults(func(_ context.Context, call fencedbtest.Call) fencedbtest.FaultPlan {
			if call.Op == fencedbtest.OpAcquire && time.Since(bubbleStart) < 16*time.Second {
				return fencedbtest.FaultPlan{LoseReply: true}
			}
			return fencedbtest.FaultPlan{}
		}))
		err := fencedb.Hold(t.Context(), c, daily, func(_ context.Context, l *fencedb.Lease) error {
			if l.Token().Counter() != 2 || l.Remaining() != validFor {
				t.Errorf("token %v, %v left", l.Token(), l.Remaining())
			}
			return nil
		}, clocked()...)
		if err != nil {
			t.Error(err)
		}
	})
}

// Clocks that disagree make a lease uncertain until a renewal is answered.
func TestClockThatJumps(t *testing.T) {
	for name, jump := range map[string]func(*bubbleClock){
		"clock_jump -20s": func(c *bubbleClock) { c.step.Store(int64(-20 * time.Second)) },
		"suspend 3s":      func(c *bubbleClock) { c.suspended.Store(int64(3 * time.Second)) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := fencedbtest.NewCoordinator("default", fencedbtest.WithFaults(func(_ context.Context, call fencedbtest.Call) fencedbtest.FaultPlan {
					if call.Op == fencedbtest.OpRenew {
						return fencedbtest.FaultPlan{AfterDelay: 100 * time.Millisecond}
					}
					return fencedbtest.FaultPlan{}
				}))
				clock := &bubbleClock{}
				var got receipts
				err := fencedb.Hold(t.Context(), c, daily, func(ctx context.Context, l *fencedb.Lease) error {
					time.Sleep(time.Second)
					jump(clock)
					for !l.Uncertain() { // it shows at the next tick
						time.Sleep(time.Millisecond)
					}
					if err := l.Begin(0); !errors.Is(err, fencedb.ErrUncertain) || ctx.Err() != nil {
						t.Errorf("Begin: %v, context: %v", err, ctx.Err())
					}
					time.Sleep(time.Second)
					return l.Begin(time.Second)
				}, fencedb.WithClock(clock), fencedb.WithObserver(got.observer()))
				if err != nil || !strings.Contains(got.String(), "uncertain true "+name) {
					t.Errorf("%v\n%s", err, got.String())
				}
			})
		})
	}
}

func TestHoldOptions(t *testing.T) {
	c := fencedbtest.NewCoordinator("default")
	for name, test := range map[string]struct {
		resource string
		c        fencedb.Coordinator
		opts     []fencedb.HoldOption
		want     string
	}{
		"zero TTL":     {daily, c, []fencedb.HoldOption{fencedb.TTL(0)}, "TTL is 0s; it has to be positive"},
		"negative TTL": {daily, c, []fencedb.HoldOption{fencedb.TTL(-time.Second)}, "TTL is -1s"},
		"TTL too long": {daily, c, []fencedb.HoldOption{fencedb.TTL(1 << 62)}, "more than 24h"},
		"below rule":   {daily, c, []fencedb.HoldOption{fencedb.RenewEvery(8 * time.Second)}, "RenewEvery + 2*AttemptTimeout + Margin = 8s + 2*3s + 1s = 15s is more than TTL*(1-drift)/(1+drift) = 15s*(1-5%)/(1+5%) = 13.571428s: lengthen the TTL to 16.58"},
		"drift":        {daily, c, []fencedb.HoldOption{fencedb.Drift(0.9)}, "Drift is 90%; it has to be from 0 to 50%"},
		"margin":       {daily, c, []fencedb.HoldOption{fencedb.Margin(-1)}, "Margin is -1ns"},
		"lock delay":   {daily, c, []fencedb.HoldOption{fencedb.LockDelay(-1)}, "LockDelay is -1ns"},
		"retry":        {daily, c, []fencedb.HoldOption{fencedb.RetryEvery(0)}, "RetryEvery is 0s"},
		"poll":         {daily, c, []fencedb.HoldOption{fencedb.PollEvery(-1)}, "PollEvery is -1ns"},
		"owner":        {daily, c, []fencedb.HoldOption{fencedb.Owner("\xff")}, "UTF-8"},
		"nil guard":    {daily, c, []fencedb.HoldOption{fencedb.Guards(nil)}, "guard 0 is nil"},
		"no resource":  {"", c, nil, "no resource"},
		"bad resource": {"a\nb", c, nil, "does not print"},
		"nil":          {daily, nil, nil, "no coordinator"},
	} {
		t.Run(name, func(t *testing.T) {
			err := fencedb.Hold(t.Context(), test.c, test.resource, func(context.Context, *fencedb.Lease) error {
				t.Error("the work ran")
				return nil
			}, test.opts...)
			if err == nil || !strings.Contains(err.Error(), test.want) || !errors.Is(err, fencedb.ErrInvalidOptions) && !errors.Is(err, fencedb.ErrInvalidToken) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if len(c.History()) != 0 {
		t.Error("something was asked for")
	}
}

// No two leases of a resource are valid at one moment while the clocks keep to the bound,
// and no guard accepts a token below one that was raised, whatever the network does.
func TestNoTwoValidLeases(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 10
	}
	grants, stale := 0, 0
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			n, s := noTwoValid(t, seed)
			grants += n
			stale += s
		})
	}
	if grants < int(seeds)*5 || stale == 0 {
		t.Errorf("vacuous: %d grants, %d stale writes", grants, stale)
	}
}

func noTwoValid(t *testing.T, seed uint64) (grants, stale int) {
	var mu sync.Mutex // randomness, and what is known of the leases
	random := rand.New(rand.NewPCG(seed, 1))
	draw := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(n)
	}
	rate := func() float64 { return 0.95 + float64(draw(100_000))/1e6 }
	network := func() fencedbtest.Faults {
		var cut atomic.Int64 // until when everything is lost
		return func(context.Context, fencedbtest.Call) fencedbtest.FaultPlan {
			now := int64(time.Since(bubbleStart))
			p := fencedbtest.FaultPlan{BeforeDelay: time.Duration(draw(20)) * time.Millisecond, AfterDelay: time.Duration(draw(20)) * time.Millisecond}
			if now < cut.Load() {
				p.LoseRequest = true
				return p
			}
			switch draw(24) {
			case 0:
				p.LoseRequest = true
			case 1:
				p.LoseReply = true
			case 2:
				p.BeforeDelay = time.Duration(draw(13000)) * time.Millisecond
			case 3:
				p.AfterDelay = time.Duration(draw(13000)) * time.Millisecond
			case 4:
				p.NotSent = true
			case 5:
				cut.Store(now + int64(draw(40))*int64(time.Second))
			}
			return p
		}
	}
	store := fencedbtest.NewCoordinator("default", fencedbtest.WithClockRate(rate()))
	guard := fencedbtest.NewGuard(network())
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	leases := map[*fencedb.Lease]bool{}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		n := 0
		for l := range leases {
			if l.Valid() {
				n++
			}
		}
		return n
	}
	var group sync.WaitGroup
	for range 4 {
		clock, handle := &bubbleClock{rate: rate()}, store.Handle(network())
		group.Go(func() {
			for ctx.Err() == nil {
				_ = fencedb.Hold(ctx, handle, daily, func(ctx context.Context, l *fencedb.Lease) error {
					mu.Lock()
					leases[l] = true
					mu.Unlock()
					for range draw(40) {
						time.Sleep(time.Duration(draw(1000)) * time.Millisecond)
						if n := count(); n > 1 {
							t.Errorf("seed %d: %d leases are valid", seed, n)
						}
						late, done := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
						if errors.Is(guard.Write(late, l.Token()), fencedb.ErrStale) {
							mu.Lock()
							stale++
							mu.Unlock()
						}
						done()
						if ctx.Err() != nil && draw(3) > 0 { // else it has not noticed
							return nil
						}
					}
					return nil
				}, fencedb.WithClock(clock), fencedb.Guards(guard))
			}
		})
	}
	group.Wait()
	history := store.History()
	for i := 1; i < len(history); i++ {
		if history[i].Token.Value() <= history[i-1].Token.Value() {
			t.Errorf("seed %d: %v was granted after %v", seed, history[i].Token, history[i-1].Token)
		}
	}
	return len(history), stale
}

func TestValidAllocatesNothing(t *testing.T) {
	c := fencedbtest.NewCoordinator("default")
	err := fencedb.Hold(t.Context(), c, daily, func(_ context.Context, l *fencedb.Lease) error {
		if n := testing.AllocsPerRun(100, func() {
			if !l.Valid() {
				t.Error("not valid")
			}
		}); n != 0 {
			t.Errorf("Valid makes %v allocations", n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func BenchmarkValid(b *testing.B) {
	c := fencedbtest.NewCoordinator("default")
	err := fencedb.Hold(b.Context(), c, daily, func(_ context.Context, l *fencedb.Lease) error {
		b.ReportAllocs()
		for b.Loop() {
			if !l.Valid() {
				b.Error("not valid")
			}
		}
		return nil
	})
	if err != nil {
		b.Error(err)
	}
}
