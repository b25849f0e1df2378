package fencedbtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/protocol"
)

func inMemory() (*Coordinator, CoordinatorUnderTest) {
	c := NewCoordinator("ns", WithGrantRaises())
	g := NewGuard(nil)
	return c, CoordinatorUnderTest{
		Open: func() fencedb.Coordinator { return c.Handle(nil) },
		Break: func(_ context.Context, resource string, noDelay bool) error {
			_, err := c.Break(resource, noDelay)
			return err
		},
		Restart: func(context.Context) error { return nil }, // the memory is what is kept
		Guard:   &GuardUnderTest{Guard: g, Write: g.Write, InScope: g.InScope},
	}
}

func TestRunCoordinator(t *testing.T) {
	RunCoordinator(t, CoordinatorSuite{
		New:    func(*testing.T) CoordinatorUnderTest { _, u := inMemory(); return u },
		Around: synctest.Test,
	})
}

// The same by real time, which other stores have.
func TestRunCoordinatorRealTime(t *testing.T) {
	RunCoordinator(t, CoordinatorSuite{
		New: func(*testing.T) CoordinatorUnderTest {
			c := NewCoordinator("ns")
			return CoordinatorUnderTest{Open: func() fencedb.Coordinator { return c.Handle(nil) }}
		},
		MinTTL:   100 * time.Millisecond,
		Parallel: true,
	})
}

// A network that is slow and loses answers is no fault of the coordinator: the checks that
// make requests again pass all the same.
func TestRunCoordinatorLossy(t *testing.T) {
	lossy := func(_ context.Context, c Call) FaultPlan {
		if c.N%3 == 0 {
			return FaultPlan{LoseReply: true, Err: errors.New("connection reset")}
		}
		return FaultPlan{BeforeDelay: time.Duration(c.N%5) * time.Millisecond, AfterDelay: time.Duration(c.N%7) * time.Millisecond}
	}
	synctest.Test(t, func(t *testing.T) {
		c := NewCoordinator("ns")
		u := CoordinatorUnderTest{Open: func() fencedb.Coordinator { return c.Handle(lossy) }}
		check := coordinatorCheckNamed(t, "concurrent")
		if err := (CoordinatorSuite{}).try(t.Context(), check, func() CoordinatorUnderTest { return u }); err != nil {
			t.Error(err)
		}
	})
}

func coordinatorCheckNamed(t *testing.T, name string) coordinatorCheck {
	t.Helper()
	i := slices.IndexFunc(coordinatorChecks, func(c coordinatorCheck) bool { return c.name == name })
	if i < 0 {
		t.Fatalf("there is no check %q", name)
	}
	return coordinatorChecks[i]
}

// broken is a coordinator with a fault. Functions that are nil do it right. Each gets the
// store, to change what it knows, and the right method.
type broken struct {
	*Coordinator
	acquire func(*store, fencedb.AcquireRequest, func(fencedb.AcquireRequest) (fencedb.Grant, error)) (fencedb.Grant, error)
	renew   func(*store, fencedb.RenewRequest, func(fencedb.RenewRequest) (fencedb.Renewal, error)) (fencedb.Renewal, error)
	release func(*store, fencedb.Token, func(fencedb.Token) error) error
	observe func(fencedb.Observation) fencedb.Observation
	deaf    bool // to contexts
}

func (b broken) context(ctx context.Context) context.Context {
	if b.deaf {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

func (b broken) Acquire(ctx context.Context, r fencedb.AcquireRequest) (fencedb.Grant, error) {
	right := func(r fencedb.AcquireRequest) (fencedb.Grant, error) { return b.Coordinator.Acquire(b.context(ctx), r) }
	if b.acquire == nil {
		return right(r)
	}
	return b.acquire(b.store, r, right)
}

func (b broken) Renew(ctx context.Context, r fencedb.RenewRequest) (fencedb.Renewal, error) {
	right := func(r fencedb.RenewRequest) (fencedb.Renewal, error) { return b.Coordinator.Renew(b.context(ctx), r) }
	if b.renew == nil {
		return right(r)
	}
	return b.renew(b.store, r, right)
}

func (b broken) Release(ctx context.Context, t fencedb.Token) error {
	right := func(t fencedb.Token) error { return b.Coordinator.Release(b.context(ctx), t) }
	if b.release == nil {
		return right(t)
	}
	return b.release(b.store, t, right)
}

func (b broken) Observe(ctx context.Context, resource string) (fencedb.Observation, error) {
	o, err := b.Coordinator.Observe(b.context(ctx), resource)
	if b.observe != nil && err == nil {
		o = b.observe(o)
	}
	return o, err
}

// edit changes what the store knows of a resource.
func (s *store) edit(resource string, f func(l *lease, now protocol.StoreTime)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.leases[resource]
	f(&l, s.now())
	s.leases[resource] = l
}

type (
	acquireFunc = func(fencedb.AcquireRequest) (fencedb.Grant, error)
	renewFunc   = func(fencedb.RenewRequest) (fencedb.Renewal, error)
	releaseFunc = func(fencedb.Token) error
)

// afterAcquire changes the lease after a grant.
func afterAcquire(f func(l *lease)) func(*store, fencedb.AcquireRequest, acquireFunc) (fencedb.Grant, error) {
	return func(s *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
		g, err := right(r)
		if err == nil && !g.Repeated {
			s.edit(r.Resource, func(l *lease, _ protocol.StoreTime) { f(l) })
		}
		return g, err
	}
}

type brokenCoordinator struct {
	name, check string
	make        func() broken
}

// brokenCoordinators are faults, and the check that has to find each.
var brokenCoordinators = []brokenCoordinator{
	{"token drawn per resource", "tokens", func() broken {
		counters := make(map[string]protocol.Allocator)
		return broken{acquire: func(s *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			s.counter = counters[r.Resource]
			defer func() { counters[r.Resource] = s.counter }()
			return right(r)
		}}
	}},
	{"counter deleted with the lease", "tokens", func() broken {
		return broken{release: func(s *store, t fencedb.Token, right releaseFunc) error {
			err := right(t)
			s.counter = protocol.Allocator{}
			return err
		}}
	}},
	{"token is the time", "concurrent", func() broken {
		return broken{acquire: func(s *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			s.mu.Lock()
			s.counter.Counter = int64(s.now()/10_000) % protocol.MaxCounter
			s.mu.Unlock()
			return right(r)
		}}
	}},
	{"expired grant renewed", "renew-expired", func() broken {
		return broken{renew: func(s *store, r fencedb.RenewRequest, right renewFunc) (fencedb.Renewal, error) {
			s.edit(r.Token.Resource(), func(l *lease, now protocol.StoreTime) {
				if l.End == "" && l.GrantID == r.Token.Grant() {
					l.Expires = max(l.Expires, now+1)
				}
			})
			return right(r)
		}}
	}},
	{"superseded grant renewed", "superseded", func() broken {
		return broken{renew: func(s *store, r fencedb.RenewRequest, right renewFunc) (fencedb.Renewal, error) {
			var t fencedb.Token
			s.edit(r.Token.Resource(), func(l *lease, _ protocol.StoreTime) { t = Granted(r.Token.Resource(), l.Value, l.GrantID) })
			r.Token = t
			return right(r)
		}}
	}},
	{"renewal compares the grant id alone", "superseded", func() broken {
		return broken{renew: func(s *store, r fencedb.RenewRequest, right renewFunc) (fencedb.Renewal, error) {
			s.edit(r.Token.Resource(), func(l *lease, _ protocol.StoreTime) {
				if l.GrantID == r.Token.Grant() {
					r.Token = Granted(r.Token.Resource(), l.Value, l.GrantID)
				}
			})
			return right(r)
		}}
	}},
	{"another's grant released", "superseded", func() broken {
		return broken{release: func(s *store, t fencedb.Token, right releaseFunc) error {
			s.edit(t.Resource(), func(l *lease, _ protocol.StoreTime) { t = Granted(t.Resource(), l.Value, l.GrantID) })
			return right(t)
		}}
	}},
	{"acquire not idempotent: refused", "repeated", func() broken {
		return broken{acquire: func(s *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			id := r.GrantID
			s.edit(r.Resource, func(l *lease, _ protocol.StoreTime) {
				if l.GrantID == id {
					r.GrantID = "another"
				}
			})
			return right(r)
		}}
	}},
	{"acquire not idempotent: a second token", "repeated", func() broken {
		return broken{acquire: func(s *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			s.edit(r.Resource, func(l *lease, _ protocol.StoreTime) {
				if l.GrantID == r.GrantID {
					l.GrantID, l.FreeAt = "another", 0
				}
			})
			return right(r)
		}}
	}},
	{"repeated acquire lengthens the grant", "repeated", func() broken {
		return broken{acquire: func(s *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			g, err := right(r)
			if g.Repeated {
				s.edit(r.Resource, func(l *lease, _ protocol.StoreTime) { l.Expires = l.Expires.Add(r.TTL) })
			}
			return g, err
		}}
	}},
	{"repeated acquire not marked", "repeated", func() broken {
		return broken{acquire: func(_ *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			g, err := right(r)
			g.Repeated = false
			return g, err
		}}
	}},
	{"ended grant brought back", "ended-grant", func() broken {
		return broken{acquire: func(s *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			s.edit(r.Resource, func(l *lease, now protocol.StoreTime) {
				if l.GrantID == r.GrantID && !l.Held(now) {
					l.GrantID, l.FreeAt = "another", 0
				}
			})
			return right(r)
		}}
	}},
	{"owner's name taken for its identity", "owners", func() broken {
		return broken{acquire: func(s *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			s.edit(r.Resource, func(l *lease, now protocol.StoreTime) {
				if l.Owner == r.Owner && l.Held(now) {
					r.GrantID = l.GrantID
				}
			})
			return right(r)
		}}
	}},
	{"takeover before expiry", "takeover", func() broken {
		return broken{acquire: afterAcquire(func(l *lease) { l.FreeAt = l.FreeAt.Add(-l.TTL / 5) })}
	}},
	{"takeover before expiry of a renewed grant", "renew", func() broken {
		return broken{renew: func(s *store, r fencedb.RenewRequest, right renewFunc) (fencedb.Renewal, error) {
			renewal, err := right(r)
			s.edit(r.Token.Resource(), func(l *lease, _ protocol.StoreTime) { l.FreeAt = l.FreeAt.Add(-l.TTL / 5) })
			return renewal, err
		}}
	}},
	{"takeover never", "takeover", func() broken {
		return broken{acquire: afterAcquire(func(l *lease) { l.FreeAt = l.FreeAt.Add(time.Hour) })}
	}},
	{"lock-delay ignored", "lock-delay", func() broken {
		return broken{acquire: afterAcquire(func(l *lease) { l.FreeAt = l.Expires })}
	}},
	{"lock-delay half", "lock-delay", func() broken {
		return broken{acquire: afterAcquire(func(l *lease) { l.FreeAt = l.Expires.Add(l.LockDelay / 2) })}
	}},
	{"lock-delay after a release", "release", func() broken {
		return broken{release: func(s *store, t fencedb.Token, right releaseFunc) error {
			err := right(t)
			s.edit(t.Resource(), func(l *lease, now protocol.StoreTime) { l.FreeAt = now.Add(l.LockDelay) })
			return err
		}}
	}},
	{"release twice an error", "release", func() broken {
		return broken{release: func(s *store, t fencedb.Token, right releaseFunc) (err error) {
			s.edit(t.Resource(), func(l *lease, _ protocol.StoreTime) {
				if l.End == protocol.Released {
					err = fencedb.ErrReleased
				}
			})
			return errors.Join(err, right(t))
		}}
	}},
	{"release does nothing", "release", func() broken {
		return broken{release: func(*store, fencedb.Token, releaseFunc) error { return nil }}
	}},
	{"release of an expired grant leaves it", "release-expired", func() broken {
		return broken{release: func(s *store, t fencedb.Token, right releaseFunc) error {
			expired := false
			s.edit(t.Resource(), func(l *lease, now protocol.StoreTime) { expired = l.ended(now) == "expired" })
			if expired {
				return nil
			}
			return right(t)
		}}
	}},
	{"renewal shortens", "renew-shorter", func() broken {
		return broken{renew: func(s *store, r fencedb.RenewRequest, right renewFunc) (fencedb.Renewal, error) {
			renewal, err := right(r)
			s.edit(r.Token.Resource(), func(l *lease, now protocol.StoreTime) {
				l.Expires = now.Add(r.TTL)
				l.FreeAt = l.Expires
			})
			return renewal, err
		}}
	}},
	{"renewal does nothing", "renew", func() broken {
		return broken{renew: func(s *store, r fencedb.RenewRequest, _ renewFunc) (renewal fencedb.Renewal, err error) {
			s.edit(r.Token.Resource(), func(l *lease, now protocol.StoreTime) {
				l.Renewals++
				renewal = fencedb.Renewal{TTL: r.TTL, At: now.Time(), Count: l.Renewals}
			})
			return renewal, nil
		}}
	}},
	{"two holders", "busy", func() broken {
		return broken{acquire: afterAcquire(func(l *lease) { l.FreeAt = 0 })}
	}},
	{"two holders, sometimes", "concurrent", func() broken {
		n := 0
		return broken{acquire: afterAcquire(func(l *lease) {
			if n++; n%2 == 0 {
				l.FreeAt = 0
			}
		})}
	}},
	{"resources folded", "resources", func() broken {
		return broken{acquire: func(_ *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			resource := r.Resource
			r.Resource = strings.ToLower(resource)
			g, err := right(r)
			if err == nil {
				g.Token = Granted(resource, g.Token.Value(), g.Token.Grant())
			}
			return g, err
		}}
	}},
	{"refusal without the holder", "busy", func() broken {
		return broken{acquire: func(_ *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			g, err := right(r)
			if errors.Is(err, fencedb.ErrHeld) {
				err = fencedb.ErrHeld
			}
			return g, err
		}}
	}},
	{"free too late", "busy", func() broken {
		return broken{acquire: func(_ *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			g, err := right(r)
			var held *fencedb.HeldError
			if errors.As(err, &held) {
				held.FreeIn *= 3
			}
			return g, err
		}}
	}},
	{"no predecessor", "predecessor", func() broken {
		return broken{acquire: func(_ *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			g, err := right(r)
			g.Predecessor = fencedb.Predecessor{}
			return g, err
		}}
	}},
	{"predecessor always released", "predecessor", func() broken {
		return broken{acquire: func(_ *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			g, err := right(r)
			g.Predecessor.End = "released"
			return g, err
		}}
	}},
	{"token of another resource", "grant", func() broken {
		return broken{acquire: func(_ *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			g, err := right(r)
			if err == nil {
				g.Token = Granted("ns/"+r.Resource, g.Token.Value(), g.Token.Grant())
			}
			return g, err
		}}
	}},
	{"observed as held after its end", "observe", func() broken {
		return broken{observe: func(o fencedb.Observation) fencedb.Observation {
			o.Held = o.Held || o.End == "released"
			return o
		}}
	}},
	{"observed without a lock-delay", "observe", func() broken {
		return broken{observe: func(o fencedb.Observation) fencedb.Observation { o.LockDelay = 0; return o }}
	}},
	{"TTL of zero granted", "refusals", func() broken {
		return broken{acquire: func(_ *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			if r.TTL == 0 {
				r.TTL = time.Second
			}
			return right(r)
		}}
	}},
	{"blanks trimmed", "refusals", func() broken {
		return broken{acquire: func(_ *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			r.Resource = strings.TrimSpace(r.Resource)
			return right(r)
		}}
	}},
	{"renewal of zero", "refusals", func() broken {
		return broken{renew: func(_ *store, r fencedb.RenewRequest, right renewFunc) (fencedb.Renewal, error) {
			r.TTL = max(r.TTL, time.Second)
			return right(r)
		}}
	}},
	{"deaf to contexts", "contexts", func() broken { return broken{deaf: true} }},
	{"guards elsewhere said to be raised", "guard-elsewhere", func() broken {
		return broken{acquire: func(_ *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			g, err := right(r)
			g.Raised = make([]bool, len(r.Guards))
			for i := range g.Raised {
				g.Raised[i] = true
			}
			return g, err
		}}
	}},
	{"guard not raised in the grant", "guard-in-grant", func() broken {
		return broken{acquire: func(_ *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			r.Guards = nil
			return right(r)
		}}
	}},
	{"guard raised for who is refused", "guard-in-grant", func() broken {
		return broken{acquire: func(_ *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			g, err := right(r)
			if errors.Is(err, fencedb.ErrHeld) {
				err = errors.Join(err, r.Guards[1].Raise(context.Background(), Token(r.Resource, 99)))
			}
			return g, err
		}}
	}},
	{"grant kept below its guard", "guard-in-grant", func() broken {
		return broken{acquire: func(_ *store, r fencedb.AcquireRequest, right acquireFunc) (fencedb.Grant, error) {
			g, err := right(r)
			if errors.Is(err, fencedb.ErrTokenRegression) {
				r.Guards = nil
				return right(r)
			}
			return g, err
		}}
	}},
	{"broken grant renewed", "break", func() broken {
		return broken{renew: func(s *store, r fencedb.RenewRequest, right renewFunc) (fencedb.Renewal, error) {
			s.edit(r.Token.Resource(), func(l *lease, now protocol.StoreTime) {
				if l.End == protocol.Broken {
					l.End, l.Value, l.Expires = "", r.Token.Value(), now+1
				}
			})
			return right(r)
		}}
	}},
}

// A suite that cannot fail proves nothing: each fault is found by the check for it.
func TestRunCoordinatorFinds(t *testing.T) {
	for _, b := range brokenCoordinators {
		t.Run(strings.ReplaceAll(b.name, " ", "-"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := (CoordinatorSuite{}).try(t.Context(), coordinatorCheckNamed(t, b.check), func() CoordinatorUnderTest {
					c, u := inMemory()
					faulty := b.make()
					u.Open = func() fencedb.Coordinator {
						handle := faulty
						handle.Coordinator = c.Handle(nil)
						return handle
					}
					return u
				})
				var missing *missingError
				var slow *slowError
				if err == nil || errors.As(err, &missing) || errors.As(err, &slow) {
					t.Fatalf("check %q says: %v", b.check, err)
				}
				t.Log(err)
			})
		})
	}
}

// Each check finds at least one of the faults, or a store that forgets, below.
func TestEachCheckCanFail(t *testing.T) {
	for _, c := range coordinatorChecks {
		found := slices.ContainsFunc(brokenCoordinators, func(b brokenCoordinator) bool { return b.check == c.name })
		if !found && c.name != "restart" {
			t.Errorf("no broken coordinator is for check %q", c.name)
		}
	}
}

// A store that comes back from a backup has forgotten tokens, or leases.
func TestRunCoordinatorFindsAmnesia(t *testing.T) {
	for name, forget := range map[string]func(*store){
		"counter": func(s *store) { s.counter = protocol.Allocator{} },
		"leases":  func(s *store) { s.leases = make(map[string]lease) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, u := inMemory()
				u.Restart = func(context.Context) error { forget(c.store); return nil }
				err := (CoordinatorSuite{}).try(t.Context(), coordinatorCheckNamed(t, "restart"), func() CoordinatorUnderTest { return u })
				if err == nil {
					t.Error("nothing was found")
				}
				t.Log(err)
			})
		})
	}
}

// A check for which the machine was too slow is made again with a longer TTL, not failed.
func TestSlowMachine(t *testing.T) {
	var ttls []time.Duration
	check := coordinatorCheck{check: func(ctx context.Context, e *trial) error {
		ttls = append(ttls, e.ttl)
		h, err := e.hold(ctx, e.Open(), "r", e.ttl)
		if err != nil {
			return err
		}
		time.Sleep(1500 * time.Millisecond) // the machine
		_, err = e.Open().Renew(ctx, fencedb.RenewRequest{Token: h.Token, TTL: e.ttl})
		return e.unless(h.sent, h.TTL, err)
	}}
	synctest.Test(t, func(t *testing.T) {
		fresh := func() CoordinatorUnderTest { _, u := inMemory(); return u }
		if err := (CoordinatorSuite{}).try(t.Context(), check, fresh); err != nil {
			t.Error(err)
		}
		if want := []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}; !slices.Equal(ttls, want) {
			t.Errorf("TTLs were %v, want %v", ttls, want)
		}
		var slow *slowError
		if err := (CoordinatorSuite{MinTTL: time.Millisecond}).try(t.Context(), check, fresh); !errors.As(err, &slow) {
			t.Errorf("%v; want an error that says that the machine is slow", err)
		}
	})
}

func TestRunGuard(t *testing.T) {
	RunGuard(t, GuardSuite{
		New: func(*testing.T) GuardUnderTest {
			g := NewGuard(nil)
			return GuardUnderTest{Guard: g, Write: g.Write, InScope: g.InScope}
		},
		Around: synctest.Test,
	})
}

// column is a guard as a fence column is one: its writes raise it.
type column struct{ *Guard }

func (c column) Write(ctx context.Context, t fencedb.Token) error { return c.Raise(ctx, t) }

func TestRunGuardRow(t *testing.T) {
	RunGuard(t, GuardSuite{
		New: func(*testing.T) GuardUnderTest {
			c := column{NewGuard(nil)}
			return GuardUnderTest{Guard: c, Write: c.Write}
		},
		Row:    true,
		Around: synctest.Test,
	})
}

// raiseFunc is a guard that is one function.
type raiseFunc func(context.Context, fencedb.Token) error

func (f raiseFunc) Raise(ctx context.Context, t fencedb.Token) error { return f(ctx, t) }

// brokenGuards are faults, and the check that has to find each. Spoil changes a right guard.
var brokenGuards = []struct {
	name, check string
	spoil       func(g *Guard, u *GuardUnderTest)
}{
	{"missing row lets in", "never-raised", func(g *Guard, u *GuardUnderTest) {
		u.Write = func(ctx context.Context, t fencedb.Token) error {
			if known, err := g.Known(ctx, t.Resource()); err != nil || known == (protocol.Guard{}) {
				return err
			}
			return g.Write(ctx, t)
		}
	}},
	{"raise not idempotent", "raise", func(g *Guard, u *GuardUnderTest) {
		u.Guard = raiseFunc(func(ctx context.Context, t fencedb.Token) error {
			if known, err := g.Known(ctx, t.Resource()); err != nil || known.Value == t.Value() {
				return errors.Join(err, &fencedb.StaleError{})
			}
			return g.Raise(ctx, t)
		})
	}},
	{"nothing compared", "stale", func(_ *Guard, u *GuardUnderTest) {
		u.Write = func(context.Context, fencedb.Token) error { return nil }
	}},
	{"raise sinks", "stale", func(g *Guard, u *GuardUnderTest) {
		u.Guard = raiseFunc(func(ctx context.Context, t fencedb.Token) error {
			err := g.Raise(ctx, t)
			g.row(t.Resource()).Guard = protocol.Guard{Value: t.Value(), GrantID: t.Grant()}
			return err
		})
	}},
	{"rejected without the values", "stale", func(g *Guard, u *GuardUnderTest) {
		u.Write = func(ctx context.Context, t fencedb.Token) error {
			err := g.Write(ctx, t)
			if errors.Is(err, fencedb.ErrStale) {
				err = fencedb.ErrStale
			}
			return err
		}
	}},
	{"tokens above accepted", "above", func(g *Guard, u *GuardUnderTest) {
		u.Write = func(ctx context.Context, t fencedb.Token) error {
			if err := g.Write(ctx, t); !errors.Is(err, fencedb.ErrNotGranted) {
				return err
			}
			return nil
		}
	}},
	{"grant id not compared", "conflict", func(g *Guard, u *GuardUnderTest) {
		u.Write = func(ctx context.Context, t fencedb.Token) error {
			if err := g.Write(ctx, t); fencedb.ResultOf(err) != fencedb.Conflict {
				return err
			}
			return nil
		}
	}},
	{"second grant of a number taken", "conflict", func(g *Guard, u *GuardUnderTest) {
		u.Guard = raiseFunc(func(ctx context.Context, t fencedb.Token) error {
			err := g.Raise(ctx, t)
			if fencedb.ResultOf(err) == fencedb.Conflict {
				g.row(t.Resource()).GrantID = t.Grant()
			}
			return err
		})
	}},
	{"resources folded", "resources", func(g *Guard, u *GuardUnderTest) {
		fold := func(t fencedb.Token) fencedb.Token {
			return Granted(strings.ToLower(t.Resource()), t.Value(), t.Grant())
		}
		u.Guard = raiseFunc(func(ctx context.Context, t fencedb.Token) error { return g.Raise(ctx, fold(t)) })
		u.Write = func(ctx context.Context, t fencedb.Token) error { return g.Write(ctx, fold(t)) }
	}},
	{"numbers of 53 bits", "extremes", func(g *Guard, u *GuardUnderTest) {
		round := func(t fencedb.Token) fencedb.Token {
			if t.Value() <= 1<<53 {
				return t
			}
			return Granted(t.Resource(), t.Value()&^1, t.Grant())
		}
		u.Guard = raiseFunc(func(ctx context.Context, t fencedb.Token) error { return g.Raise(ctx, round(t)) })
		u.Write = func(ctx context.Context, t fencedb.Token) error { return g.Write(ctx, round(t)) }
	}},
	{"zero token let in", "zero-token", func(g *Guard, u *GuardUnderTest) {
		u.Write = func(ctx context.Context, t fencedb.Token) error {
			if t.IsZero() {
				return nil
			}
			return g.Write(ctx, t)
		}
	}},
	{"deaf to contexts", "contexts", func(g *Guard, u *GuardUnderTest) {
		u.Guard = raiseFunc(func(ctx context.Context, t fencedb.Token) error { return g.Raise(context.WithoutCancel(ctx), t) })
	}},
	{"raise reads and writes in two steps", "concurrent-raises", func(g *Guard, u *GuardUnderTest) {
		u.Guard = raiseFunc(func(ctx context.Context, t fencedb.Token) error {
			known, err := g.Known(ctx, t.Resource())
			if err != nil || known.Value > t.Value() {
				return errors.Join(err, &fencedb.StaleError{Resource: t.Resource(), Presented: t.Value(), Current: known.Value})
			}
			time.Sleep(time.Duration(100-t.Value()) * time.Millisecond) // the largest is overwritten
			row := g.row(t.Resource())
			if err := row.lock(ctx); err != nil {
				return err
			}
			defer row.unlock()
			row.Guard = protocol.Guard{Value: t.Value(), GrantID: t.Grant()}
			return nil
		})
	}},
	{"write compares without a lock", "raise-waits", func(g *Guard, u *GuardUnderTest) {
		u.InScope = func(ctx context.Context, t fencedb.Token, fn func() error) error {
			if err := g.Write(ctx, t); err != nil {
				return err
			}
			return fn()
		}
	}},
	{"raise acknowledged before it is made", "fences", func(g *Guard, u *GuardUnderTest) {
		var wg sync.WaitGroup
		u.Guard = raiseFunc(func(ctx context.Context, t fencedb.Token) error {
			wg.Wait() // one after another
			if t.Value() == 1 {
				return g.Raise(ctx, t)
			}
			wg.Go(func() {
				time.Sleep(15 * time.Millisecond)
				_ = g.Raise(ctx, t)
			})
			return nil
		})
	}},
}

func TestRunGuardFinds(t *testing.T) {
	caught := make(map[string]bool)
	for _, b := range brokenGuards {
		caught[b.check] = true
		t.Run(strings.ReplaceAll(b.name, " ", "-"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewGuard(nil)
				u := GuardUnderTest{Guard: g, Write: g.Write, InScope: g.InScope}
				b.spoil(g, &u)
				i := slices.IndexFunc(guardChecks, func(c guardCheck) bool { return c.name == b.check })
				if i < 0 {
					t.Fatalf("there is no check %q", b.check)
				}
				err := guardChecks[i].check(t.Context(), (GuardSuite{}).trial(u))
				if err == nil {
					t.Fatalf("check %q has found nothing", b.check)
				}
				t.Log(err)
			})
		})
	}
	for _, c := range guardChecks {
		if !caught[c.name] {
			t.Errorf("no broken guard is for check %q", c.name)
		}
	}
}
