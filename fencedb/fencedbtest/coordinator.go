package fencedbtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
)

// A CoordinatorSuite says how [RunCoordinator] gets the coordinator it tests.
type CoordinatorSuite struct {
	// New makes a namespace in which nothing was granted. It is called at least once for
	// each check; t is the check's, for Cleanup and Fatal.
	New func(t *testing.T) CoordinatorUnderTest

	// MinTTL is the shortest TTL that the coordinator grants, and that this machine can
	// keep up with: leases that are to expire have it. 500 ms if it is 0. A run without
	// Parallel takes about 25 times as long.
	MinTTL time.Duration

	// Early is how much earlier than its TTL says a grant may end by the clock of package
	// time, since the two clocks differ in their steps and rates. 20 ms if it is 0.
	Early time.Duration

	// Late is how long after a grant's end another one may be refused, and how long a
	// call may take whose context has ended. 2 s if it is 0.
	Late time.Duration

	// Parallel runs the checks at the same time. They wait for most of theirs.
	Parallel bool

	// Around runs each check, if it is not nil: [testing/synctest.Test] for a coordinator
	// whose clock is package time.
	Around func(t *testing.T, check func(t *testing.T))
}

// A CoordinatorUnderTest is one namespace of the coordinator that is tested. Open has to be
// there; checks that need one of the others are skipped if it is not.
type CoordinatorUnderTest struct {
	// Open returns a new handle of the namespace, as another process has one: with
	// connections and a memory of its own.
	Open func() fencedb.Coordinator

	// Break ends a resource's grant as an operator does.
	Break func(ctx context.Context, resource string, noDelay bool) error

	// Restart stops the store and starts it again, as after a crash. Handles that were
	// opened before have to work afterwards.
	Restart func(ctx context.Context) error

	// Guard is one that the coordinator raises in the transaction of the grant. It was
	// never raised.
	Guard *GuardUnderTest
}

// RunCoordinator tests that a coordinator keeps what [fencedb.Coordinator] promises, by what
// callers see of it and by the time of package time. Each check is a subtest with a namespace
// of its own; a failure says what was wrong and why it matters. It is for every store that
// implements the interface; its own test is one call:
//
//	func TestConformance(t *testing.T) {
//		fencedbtest.RunCoordinator(t, fencedbtest.CoordinatorSuite{
//			New: func(t *testing.T) fencedbtest.CoordinatorUnderTest {
//				namespace := rand.Text()
//				return fencedbtest.CoordinatorUnderTest{
//					Open: func() fencedb.Coordinator { return mystore.New(connect(t), namespace) },
//				}
//			},
//		})
//	}
//
// A check that depends on a lease that has not expired, on a machine that stood still for
// longer than the lease lasts, proves nothing. It is made again, with a TTL that is twice as
// long; if four times are not enough, it fails.
func RunCoordinator(t *testing.T, s CoordinatorSuite) {
	around := s.Around
	if around == nil {
		around = func(t *testing.T, check func(*testing.T)) { check(t) }
	}
	for _, c := range coordinatorChecks {
		t.Run(c.name, func(t *testing.T) {
			if s.Parallel {
				t.Parallel()
			}
			around(t, func(t *testing.T) {
				err := s.try(t.Context(), c, func() CoordinatorUnderTest { return s.New(t) })
				var missing *missingError
				switch {
				case errors.As(err, &missing):
					t.Skip(err)
				case err != nil:
					t.Errorf("%v\nwhy: %s", err, c.why)
				}
			})
		})
	}
}

// tries is how often a check is made that the machine was too slow for.
const tries = 4

// try makes one check, again if the machine was too slow.
func (s CoordinatorSuite) try(ctx context.Context, c coordinatorCheck, open func() CoordinatorUnderTest) error {
	ttl := or(s.MinTTL, 500*time.Millisecond)
	var err error
	for range tries {
		e := &trial{CoordinatorUnderTest: open(), ttl: ttl, long: 60*time.Second + 10*ttl, early: or(s.Early, 20*time.Millisecond), late: or(s.Late, 2*time.Second)}
		if c.needs != nil {
			if what := c.needs(e.CoordinatorUnderTest); what != "" {
				return &missingError{what}
			}
		}
		var slow *slowError
		if err = c.check(ctx, e); !errors.As(err, &slow) {
			return err
		}
		ttl *= 2
	}
	return err
}

func or(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// A missingError says that a check needs what the suite was not given.
type missingError struct{ what string }

func (e *missingError) Error() string {
	return "the suite was given no " + e.what + ": set that field of CoordinatorUnderTest to run this check"
}

// A slowError is what a check saw when a lease may have ended because the check took so long.
type slowError struct{ err error }

func (e *slowError) Error() string {
	return fmt.Sprintf("the lease may have expired, since this machine was slow; give the suite a longer MinTTL: %v", e.err)
}

func (e *slowError) Unwrap() error { return e.err }

// A coordinatorCheck is one promise and the function that tests it.
type coordinatorCheck struct {
	name  string
	why   string                            // it matters
	needs func(CoordinatorUnderTest) string // names the field that is missing; empty if none is
	check func(context.Context, *trial) error
}

func needsBreak(u CoordinatorUnderTest) string {
	if u.Break == nil {
		return "Break"
	}
	return ""
}

func needsRestart(u CoordinatorUnderTest) string {
	if u.Restart == nil {
		return "Restart"
	}
	return ""
}

func needsGuard(u CoordinatorUnderTest) string {
	if u.Guard == nil {
		return "Guard"
	}
	return ""
}

// A trial is what a check works with.
type trial struct {
	CoordinatorUnderTest
	ttl   time.Duration // of leases that are to expire
	long  time.Duration // of those that are not
	early time.Duration
	late  time.Duration
}

// problems are what a check found.
type problems []error

func (p *problems) addf(format string, args ...any) { *p = append(*p, fmt.Errorf(format, args...)) }

func (p problems) err() error { return errors.Join(p...) }

// A holding is a grant, and when it was asked for.
type holding struct {
	fencedb.Grant
	owner    string
	sent     time.Time // before the request
	answered time.Time
}

// request is one for a new grant.
func (e *trial) request(resource string, ttl time.Duration) fencedb.AcquireRequest {
	id := rand.Text()
	return fencedb.AcquireRequest{Resource: resource, GrantID: id, Owner: "owner-" + id[:4], TTL: ttl, Usable: (ttl / 2).Truncate(time.Millisecond)}
}

// acquire asks for a grant, which has to be given.
func (e *trial) acquire(ctx context.Context, c fencedb.Coordinator, r fencedb.AcquireRequest) (holding, error) {
	sent := time.Now()
	g, err := c.Acquire(ctx, r)
	if err != nil {
		return holding{}, fmt.Errorf("acquiring %s, which nobody holds: %w", r.Resource, err)
	}
	return holding{g, r.Owner, sent, time.Now()}, nil
}

// hold is acquire of a resource with a new grant.
func (e *trial) hold(ctx context.Context, c fencedb.Coordinator, resource string, ttl time.Duration) (holding, error) {
	return e.acquire(ctx, c, e.request(resource, ttl))
}

// released has the resource released be held, and releases it.
func (e *trial) released(ctx context.Context, c fencedb.Coordinator) (holding, error) {
	h, err := e.hold(ctx, c, "released", e.long)
	if err != nil {
		return h, err
	}
	if err := c.Release(ctx, h.Token); err != nil {
		return h, fmt.Errorf("releasing %s: %w", h.Token, err)
	}
	return h, nil
}

// expiring holds a resource for a short time and waits until that is over.
func (e *trial) expiring(ctx context.Context, c fencedb.Coordinator, r fencedb.AcquireRequest) (holding, error) {
	h, err := e.acquire(ctx, c, r)
	if err != nil {
		return h, err
	}
	return h, e.expire(ctx, c, h)
}

// expire waits until a grant's time is over by the coordinator's clock.
func (e *trial) expire(ctx context.Context, c fencedb.Coordinator, h holding) error {
	for {
		asked := time.Now()
		o, err := c.Observe(ctx, h.Token.Resource())
		switch {
		case err != nil:
			return fmt.Errorf("observing %s: %w", h.Token.Resource(), err)
		case !o.Held:
			return nil
		case asked.Sub(h.answered) > h.TTL+e.late:
			return fmt.Errorf("%s: the grant has a TTL of %v and is still held %v after it was answered", h.Token, h.TTL, asked.Sub(h.answered))
		}
		if err := sleep(ctx, e.poll()); err != nil {
			return err
		}
	}
}

func (e *trial) poll() time.Duration { return max(e.ttl/20, time.Millisecond) }

// unless returns err, marked if a lease that was asked for at sent may have expired by now.
func (e *trial) unless(sent time.Time, ttl time.Duration, err error) error {
	if err != nil && time.Since(sent) >= ttl-ttl/20-e.early {
		return &slowError{err}
	}
	return err
}

// busy says what is wrong if a resource that h holds is granted to another, or refused in
// another way than by [fencedb.HeldError].
func (e *trial) busy(ctx context.Context, c fencedb.Coordinator, h holding, delay time.Duration) error {
	g, err := c.Acquire(ctx, e.request(h.Token.Resource(), e.long))
	var held *fencedb.HeldError
	switch {
	case err == nil:
		return fmt.Errorf("%s was granted %v after %s was asked for, whose TTL is %v and lock-delay %v", g.Token, time.Since(h.sent), h.Token, h.TTL, delay)
	case !errors.As(err, &held) || !errors.Is(err, fencedb.ErrHeld):
		return fmt.Errorf("acquiring %s, which is held: %w; want a *HeldError", h.Token.Resource(), err)
	case held.Resource != h.Token.Resource() || held.Owner != h.owner || held.Value != h.Token.Value():
		return fmt.Errorf("acquiring %s, which %q holds with token %d: the HeldError is %+v", h.Token.Resource(), h.owner, h.Token.Value(), *held)
	case held.FreeIn <= 0 || held.FreeIn > h.TTL+delay:
		return fmt.Errorf("acquiring %s, whose TTL is %v and lock-delay %v: the HeldError says that it is free in %v", h.Token.Resource(), h.TTL, delay, held.FreeIn)
	}
	return nil
}

// takeover asks for a resource until it is granted, and says what is wrong if that is sooner
// than notBefore after h was last asked for, or later than notBefore after the answer.
func (e *trial) takeover(ctx context.Context, c fencedb.Coordinator, h holding, notBefore time.Duration) (holding, error) {
	r := e.request(h.Token.Resource(), e.long)
	for {
		sent := time.Now()
		g, err := c.Acquire(ctx, r)
		answered := time.Now()
		switch {
		case err == nil && answered.Sub(h.sent) < notBefore-e.early:
			return holding{}, fmt.Errorf("%s was granted %v after %s was asked for; want at least %v", g.Token, answered.Sub(h.sent), h.Token, notBefore)
		case err == nil:
			return holding{g, r.Owner, sent, answered}, nil
		case !errors.Is(err, fencedb.ErrHeld):
			return holding{}, fmt.Errorf("acquiring %s after another: %w", r.Resource, err)
		case sent.Sub(h.answered) > notBefore+e.late:
			return holding{}, fmt.Errorf("%s is still held %v after it was granted; want at most %v: %w", r.Resource, sent.Sub(h.answered), notBefore, err)
		}
		if err := sleep(ctx, e.poll()); err != nil {
			return holding{}, err
		}
	}
}

// unchanged says what is wrong if a resource is not as it was observed before.
func unchanged(ctx context.Context, c fencedb.Coordinator, before fencedb.Observation, after string) error {
	o, err := c.Observe(ctx, before.Resource)
	if err != nil {
		return fmt.Errorf("observing %s: %w", before.Resource, err)
	}
	if state(o) == state(before) {
		return nil
	}
	was, is := reflect.ValueOf(state(before)), reflect.ValueOf(state(o))
	var changes []string
	for i := range was.NumField() {
		if a, b := was.Field(i).Interface(), is.Field(i).Interface(); a != b {
			changes = append(changes, fmt.Sprintf("%s was %v and is %v", was.Type().Field(i).Name, a, b))
		}
	}
	return fmt.Errorf("%s has changed %s: %s", before.Resource, after, strings.Join(changes, "; "))
}

// state is what of an observation does not depend on the moment, to be compared by ==.
func state(o fencedb.Observation) fencedb.Observation {
	if o.TakeoverIn() == 0 {
		o.Free = time.Time{}
	}
	o.At = time.Time{}
	for _, t := range []*time.Time{&o.Granted, &o.Renewed, &o.Expires, &o.Free, &o.Predecessor.Renewed, &o.Predecessor.Ended} {
		*t = t.Round(0).UTC()
	}
	return o
}
