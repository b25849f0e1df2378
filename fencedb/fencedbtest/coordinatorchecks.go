package fencedbtest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fencelint/fence/fencedb"
)

// coordinatorChecks is what a coordinator has to keep.
var coordinatorChecks = []coordinatorCheck{
	{name: "grant", check: checkGrantAnswer,
		why: "who is granted a resource works with what the answer says"},
	{name: "tokens", check: checkTokens,
		why: "a guard can only reject a former holder if every later grant of the namespace has a larger token"},
	{name: "resources", check: checkResources,
		why: "resources are named byte by byte; who holds one does not hold another"},
	{name: "repeated", check: checkRepeated,
		why: "the answer to the first request may have been lost: asking again must neither take a second token nor lengthen the first grant"},
	{name: "ended-grant", check: checkEndedGrant,
		why: "a request that was delayed in the network must not bring a grant back that has ended"},
	{name: "owners", check: checkOwners,
		why: "two processes may have one name; only the grant id says who is who"},
	{name: "busy", check: checkBusy,
		why: "who waits has to learn for whom, and for how long"},
	{name: "release", check: checkRelease,
		why: "a release frees the resource at once, lock-delay or not, and its answer may be lost as well"},
	{name: "takeover", check: checkTakeover,
		why: "a holder counts on its TTL from before it asked; to grant sooner makes two holders, and to grant much later is an outage"},
	{name: "lock-delay", check: checkLockDelay,
		why: "effects that compare no token are protected by the lock-delay alone"},
	{name: "renew", check: checkRenew,
		why: "a holder that renews in time keeps what it has"},
	{name: "renew-shorter", check: checkRenewShorter,
		why: "an earlier answer, which may still be on its way, has promised the longer time"},
	{name: "renew-expired", check: checkRenewExpired,
		why: "the holder's own deadline has passed, so its work has stopped: nothing may bring the grant back"},
	{name: "superseded", check: checkSuperseded,
		why: "a request of a former holder must not touch its successor's lease"},
	{name: "release-expired", check: checkReleaseExpired,
		why: "work that ended late is over all the same"},
	{name: "predecessor", check: checkPredecessor,
		why: "a successor decides by how the former holder ended what it has to look after"},
	{name: "observe", check: checkObserve,
		why: "operators, and status pages, see a lease through Observe alone"},
	{name: "refusals", check: checkRefusals,
		why: "a malformed request must fail for good and change nothing"},
	{name: "contexts", check: checkContexts,
		why: "a holder gives a request up when its deadline comes, and has to be able to"},
	{name: "concurrent", check: checkConcurrent,
		why: "at most one holder at a time, whoever comes when; and tokens in the order of grants"},
	{name: "guard-elsewhere", check: checkGuardElsewhere,
		why: "a guard that the coordinator says it raised is not raised by the holder"},
	{name: "guard-in-grant", check: checkGuardInGrant, needs: needsGuard,
		why: "a guard raised in the grant's transaction leaves no moment in which both holders can write"},
	{name: "break", check: checkBreak, needs: needsBreak,
		why: "an operator can end a grant, whose holder cannot be told: it must not renew, and nobody may come too soon"},
	{name: "restart", check: checkRestart, needs: needsRestart,
		why: "a store that forgets grants, or tokens, in a crash makes two holders"},
}

func checkGrantAnswer(ctx context.Context, e *trial) error {
	var p problems
	c := e.Open()
	if c.Namespace() == "" || c.Namespace() != e.Open().Namespace() {
		p.addf("two handles of one namespace call it %q and %q", c.Namespace(), e.Open().Namespace())
	}
	r := e.request("orders:daily", e.long)
	h, err := e.acquire(ctx, c, r)
	if err != nil {
		return err
	}
	if h.Token.Resource() != r.Resource || h.Token.Grant() != r.GrantID || h.Token.Value() <= 0 {
		p.addf("grant %q of %s has the token %v", r.GrantID, r.Resource, h.Token)
	}
	if h.TTL <= 0 {
		p.addf("granted for %v", h.TTL)
	}
	if h.Repeated {
		p.addf("the first request is answered as a repeated one")
	}
	if h.At.IsZero() {
		p.addf("the grant has no time")
	}
	if h.Predecessor != (fencedb.Predecessor{}) {
		p.addf("the first grant has a predecessor: %+v", h.Predecessor)
	}
	return p.err()
}

func checkTokens(ctx context.Context, e *trial) error {
	a, b := e.Open(), e.Open()
	var last fencedb.Token
	rises := func(h holding, after string) error {
		defer func() { last = h.Token }()
		if h.Token.Value() <= last.Value() {
			return fmt.Errorf("token %s, %s, is not larger than %s, which was granted before", h.Token, after, last)
		}
		return nil
	}
	// Handles and resources change, so that a counter of either is seen.
	for i, step := range []struct {
		c        fencedb.Coordinator
		resource string
	}{{a, "one"}, {b, "two"}, {a, "two"}, {b, "one"}, {b, "three"}, {a, "one"}} {
		h, err := e.hold(ctx, step.c, step.resource, e.long)
		if err != nil {
			return err
		}
		if err := rises(h, fmt.Sprintf("of grant %d", i+1)); err != nil {
			return err
		}
		if err := step.c.Release(ctx, h.Token); err != nil {
			return fmt.Errorf("releasing %s: %w", h.Token, err)
		}
	}
	h, err := e.expiring(ctx, a, e.request("four", e.ttl))
	if err != nil {
		return err
	}
	if err := rises(h, "that expires"); err != nil {
		return err
	}
	if h, err = e.takeover(ctx, b, h, h.TTL); err != nil {
		return err
	}
	return rises(h, "after an expiry")
}

func checkResources(ctx context.Context, e *trial) error {
	var p problems
	a, b := e.Open(), e.Open()
	seen := make(map[int64]string)
	for _, resource := range []string{"r", "R", "r/1", "r/2", "ä", "à", "a", "r r", "r%", "r_", `r'"\`, strings.Repeat("x", fencedb.MaxResource), strings.Repeat("x", fencedb.MaxResource-1)} {
		h, err := e.hold(ctx, a, resource, e.long)
		if err != nil {
			p.addf("while others are held: %w", err)
			continue
		}
		if other, twice := seen[h.Token.Value()]; twice {
			p.addf("%q and %q have the same token %d", resource, other, h.Token.Value())
		}
		seen[h.Token.Value()] = resource
		if err := e.busy(ctx, b, h, 0); err != nil {
			p = append(p, err)
		}
	}
	return p.err()
}

func checkRepeated(ctx context.Context, e *trial) error {
	var p problems
	a, b := e.Open(), e.Open()
	r := e.request("r", e.long)
	h, err := e.acquire(ctx, a, r)
	if err != nil {
		return err
	}
	again := func(c fencedb.Coordinator, when string) {
		before, err := c.Observe(ctx, r.Resource)
		if err != nil {
			p.addf("observing: %w", err)
			return
		}
		g, err := c.Acquire(ctx, r)
		switch {
		case err != nil:
			p.addf("the request made again %s: %w", when, err)
		case g.Token != h.Token:
			p.addf("the request made again %s: token %s, want %s as before", when, g.Token, h.Token)
		case !g.Repeated:
			p.addf("the request made again %s: not Repeated", when)
		case g.TTL <= 0 || g.TTL > h.TTL:
			p.addf("the request made again %s: TTL %v; the holder counts from when it first asked, so it must be from 0 to %v", when, g.TTL, h.TTL)
		}
		if err := unchanged(ctx, c, before, "when the request was made again "+when); err != nil {
			p = append(p, err)
		}
	}
	again(a, "at once")
	again(b, "by another connection")
	for range 2 {
		if _, err := a.Renew(ctx, fencedb.RenewRequest{Token: h.Token, TTL: e.long, Usable: r.Usable}); err != nil {
			return fmt.Errorf("renewing %s: %w", h.Token, err)
		}
	}
	again(b, "after renewals")
	if err := a.Release(ctx, h.Token); err != nil {
		return fmt.Errorf("releasing %s, whose request was made again: %w", h.Token, err)
	}
	if _, err := e.hold(ctx, b, "r", e.long); err != nil {
		p = append(p, err)
	}
	return p.err()
}

func checkEndedGrant(ctx context.Context, e *trial) error {
	var p problems
	a, b := e.Open(), e.Open()
	refused := func(r fencedb.AcquireRequest, ended string, want ...error) {
		before, err := b.Observe(ctx, r.Resource)
		if err != nil {
			p.addf("observing: %w", err)
			return
		}
		g, err := a.Acquire(ctx, r)
		if err == nil {
			p.addf("the request of a grant that was %s is answered by token %s", ended, g.Token)
			return
		}
		if !slices.ContainsFunc(want, func(w error) bool { return errors.Is(err, w) }) {
			p.addf("the request of a grant that was %s: %s; want %q", ended, said(err), want)
		}
		if err := unchanged(ctx, b, before, "by the request of a grant that was "+ended); err != nil {
			p = append(p, err)
		}
	}
	released := e.request("released", e.long)
	h, err := e.acquire(ctx, a, released)
	if err != nil {
		return err
	}
	if err := a.Release(ctx, h.Token); err != nil {
		return fmt.Errorf("releasing %s: %w", h.Token, err)
	}
	refused(released, "released", fencedb.ErrReleased)

	expired := e.request("expired", e.ttl)
	if h, err = e.expiring(ctx, a, expired); err != nil {
		return err
	}
	refused(expired, "not renewed", fencedb.ErrLeaseExpired)

	if _, err := e.takeover(ctx, b, h, h.TTL); err != nil {
		return err
	}
	// A coordinator need not remember more than the last grant: then it is held by another.
	refused(expired, "superseded", fencedb.ErrSuperseded, fencedb.ErrHeld)
	return p.err()
}

func checkOwners(ctx context.Context, e *trial) error {
	a, b := e.Open(), e.Open()
	h, err := e.hold(ctx, a, "r", e.long)
	if err != nil {
		return err
	}
	r := e.request("r", e.long)
	r.Owner = h.owner
	if g, err := b.Acquire(ctx, r); !errors.Is(err, fencedb.ErrHeld) {
		return fmt.Errorf("another grant of the same owner %q, while %s is held: %v, %s; want ErrHeld", h.owner, h.Token, g.Token, said(err))
	}
	return nil
}

func checkBusy(ctx context.Context, e *trial) error {
	a, b := e.Open(), e.Open()
	for _, delay := range []time.Duration{0, time.Second} {
		r := e.request(fmt.Sprintf("delay-%v", delay), e.long)
		r.LockDelay = delay
		h, err := e.acquire(ctx, a, r)
		if err != nil {
			return err
		}
		before, err := b.Observe(ctx, r.Resource)
		if err != nil {
			return fmt.Errorf("observing %s: %w", r.Resource, err)
		}
		if err := errors.Join(e.busy(ctx, a, h, delay), e.busy(ctx, b, h, delay)); err != nil {
			return err
		}
		if err := unchanged(ctx, b, before, "since another has asked for it"); err != nil {
			return err
		}
	}
	return nil
}

func checkRelease(ctx context.Context, e *trial) error {
	var p problems
	a, b := e.Open(), e.Open()
	for _, delay := range []time.Duration{0, e.long} {
		r := e.request(fmt.Sprintf("delay-%v", delay), e.long)
		r.LockDelay = delay
		h, err := e.acquire(ctx, a, r)
		if err != nil {
			return err
		}
		if err := a.Release(ctx, h.Token); err != nil {
			return fmt.Errorf("releasing %s: %w", h.Token, err)
		}
		for _, c := range []fencedb.Coordinator{a, b} {
			if err := c.Release(ctx, h.Token); err != nil {
				p.addf("releasing %s again: %w", h.Token, err)
			}
		}
		if _, err := a.Renew(ctx, fencedb.RenewRequest{Token: h.Token, TTL: e.long}); !errors.Is(err, fencedb.ErrReleased) {
			p.addf("renewing %s, which was released: %s; want ErrReleased", h.Token, said(err))
		}
		if _, err := e.hold(ctx, b, r.Resource, e.long); err != nil {
			p.addf("after a release, with a lock-delay of %v: %w", delay, err)
		}
	}
	return p.err()
}

func checkTakeover(ctx context.Context, e *trial) error {
	a, b := e.Open(), e.Open()
	h, err := e.hold(ctx, a, "r", e.ttl)
	if err != nil {
		return err
	}
	if err := e.unless(h.sent, h.TTL, e.busy(ctx, b, h, 0)); err != nil {
		return err
	}
	after, err := e.takeover(ctx, b, h, h.TTL)
	if err != nil {
		return err
	}
	if after.Token.Value() <= h.Token.Value() {
		return fmt.Errorf("%s, after a takeover from %s, is not larger", after.Token, h.Token)
	}
	return e.busy(ctx, a, after, 0)
}

func checkLockDelay(ctx context.Context, e *trial) error {
	var p problems
	a, b := e.Open(), e.Open()
	r := e.request("r", e.ttl)
	r.LockDelay = 2 * e.ttl
	h, err := e.expiring(ctx, a, r)
	if err != nil {
		return err
	}
	during := func(err error) error { return e.unless(h.sent, h.TTL+r.LockDelay, err) }
	var held *fencedb.HeldError
	g, err := b.Acquire(ctx, e.request("r", e.long))
	switch {
	case err == nil:
		return during(fmt.Errorf("%s was granted while the lock-delay of %s, which is %v, was not over", g.Token, h.Token, r.LockDelay))
	case !errors.As(err, &held):
		return fmt.Errorf("during the lock-delay: %s; want a *HeldError", said(err))
	case held.End != "expired" || held.FreeIn <= 0 || held.FreeIn > r.LockDelay:
		p.addf("during a lock-delay of %v the HeldError is %+v; want End \"expired\" and a FreeIn within it", r.LockDelay, *held)
	}
	o, err := b.Observe(ctx, "r")
	switch {
	case err != nil:
		return fmt.Errorf("observing r: %w", err)
	case o.Held || o.End != "expired" || o.LockDelay != r.LockDelay:
		p.addf("during the lock-delay: %+v; want not held, expired, and a lock-delay of %v", o, r.LockDelay)
	case o.TakeoverIn() <= 0 || o.TakeoverIn() > r.LockDelay:
		if err := during(fmt.Errorf("during a lock-delay of %v a takeover is possible in %v", r.LockDelay, o.TakeoverIn())); err != nil {
			p = append(p, err)
		}
	}
	if _, err := e.takeover(ctx, b, h, h.TTL+r.LockDelay); err != nil {
		p = append(p, err)
	}
	return p.err()
}

func checkRenew(ctx context.Context, e *trial) error {
	a, b := e.Open(), e.Open()
	h, err := e.hold(ctx, a, "r", e.ttl)
	if err != nil {
		return err
	}
	const renewals = 3
	for n := int64(1); n <= renewals; n++ {
		if err := sleep(ctx, h.TTL/2); err != nil {
			return err
		}
		last := h.sent
		sent := time.Now()
		renewal, err := a.Renew(ctx, fencedb.RenewRequest{Token: h.Token, TTL: e.ttl})
		if err != nil {
			return e.unless(last, h.TTL, fmt.Errorf("renewal %d of %s, in time: %w", n, h.Token, err))
		}
		if renewal.Count != n || renewal.TTL <= 0 || renewal.At.Before(h.At) {
			return fmt.Errorf("renewal %d is answered by %+v", n, renewal)
		}
		h.sent, h.answered, h.TTL = sent, time.Now(), renewal.TTL
		if err := e.unless(h.sent, h.TTL, e.busy(ctx, b, h, 0)); err != nil {
			return fmt.Errorf("after renewal %d: %w", n, err)
		}
	}
	if _, err := e.takeover(ctx, b, h, h.TTL); err != nil {
		return fmt.Errorf("after %d renewals: %w", renewals, err)
	}
	return nil
}

func checkRenewShorter(ctx context.Context, e *trial) error {
	a, b := e.Open(), e.Open()
	h, err := e.hold(ctx, a, "r", 3*e.ttl)
	if err != nil {
		return err
	}
	if _, err := a.Renew(ctx, fencedb.RenewRequest{Token: h.Token, TTL: e.ttl}); err != nil {
		return e.unless(h.sent, h.TTL, fmt.Errorf("renewing %s for a shorter time: %w", h.Token, err))
	}
	if _, err := e.takeover(ctx, b, h, h.TTL); err != nil {
		return fmt.Errorf("after a renewal for %v: %w", e.ttl, err)
	}
	return nil
}

func checkRenewExpired(ctx context.Context, e *trial) error {
	var p problems
	a, b := e.Open(), e.Open()
	h, err := e.expiring(ctx, a, e.request("r", e.ttl))
	if err != nil {
		return err
	}
	before, err := b.Observe(ctx, "r")
	if err != nil {
		return fmt.Errorf("observing r: %w", err)
	}
	for range 2 { // the first one must not be what makes the second succeed
		if _, err := a.Renew(ctx, fencedb.RenewRequest{Token: h.Token, TTL: e.long}); !errors.Is(err, fencedb.ErrLeaseExpired) {
			p.addf("renewing %s, which has expired and was not taken over: %s; want ErrLeaseExpired", h.Token, said(err))
		}
	}
	if err := unchanged(ctx, b, before, "by a renewal that came too late"); err != nil {
		p = append(p, err)
	}
	if _, err := e.takeover(ctx, b, h, h.TTL); err != nil {
		p = append(p, err)
	}
	return p.err()
}

func checkSuperseded(ctx context.Context, e *trial) error {
	var p problems
	a, b := e.Open(), e.Open()
	expired, err := e.expiring(ctx, a, e.request("expired", e.ttl))
	if err != nil {
		return err
	}
	released, err := e.hold(ctx, a, "released", e.long)
	if err != nil {
		return err
	}
	if err := a.Release(ctx, released.Token); err != nil {
		return fmt.Errorf("releasing %s: %w", released.Token, err)
	}
	first, err := e.takeover(ctx, b, expired, expired.TTL)
	if err != nil {
		return err
	}
	second, err := e.hold(ctx, b, "released", e.long)
	if err != nil {
		return err
	}
	for _, pair := range [][2]holding{{expired, first}, {released, second}} {
		former, present := pair[0], pair[1]
		resource := former.Token.Resource()
		before, err := b.Observe(ctx, resource)
		if err != nil {
			return fmt.Errorf("observing %s: %w", resource, err)
		}
		// The successor's number with the former grant's id, and the other way round, are
		// of no grant.
		for _, t := range []fencedb.Token{former.Token,
			Granted(resource, present.Token.Value(), former.Token.Grant()),
			Granted(resource, former.Token.Value(), present.Token.Grant())} {
			if _, err := a.Renew(ctx, fencedb.RenewRequest{Token: t, TTL: 2 * e.long}); !errors.Is(err, fencedb.ErrSuperseded) {
				p.addf("renewing %s while %s is held: %s; want ErrSuperseded", t, present.Token, said(err))
			}
			// A coordinator may remember for longer that a grant was released.
			if err := a.Release(ctx, t); !errors.Is(err, fencedb.ErrSuperseded) && (err != nil || t != released.Token) {
				p.addf("releasing %s while %s is held: %s; want ErrSuperseded", t, present.Token, said(err))
			}
		}
		if err := unchanged(ctx, b, before, "by requests of a former holder"); err != nil {
			p = append(p, err)
		}
		if _, err := b.Renew(ctx, fencedb.RenewRequest{Token: present.Token, TTL: e.long}); err != nil {
			p.addf("renewing %s after requests of a former holder: %w", present.Token, err)
		}
	}
	return p.err()
}

func checkReleaseExpired(ctx context.Context, e *trial) error {
	a, b := e.Open(), e.Open()
	r := e.request("r", e.ttl)
	r.LockDelay = e.long
	h, err := e.expiring(ctx, a, r)
	if err != nil {
		return err
	}
	err = a.Release(ctx, h.Token)
	leftAsItIs := errors.Is(err, fencedb.ErrLeaseExpired)
	if err != nil && !leftAsItIs {
		return fmt.Errorf("releasing %s, which has expired: %w; want nil or ErrLeaseExpired", h.Token, err)
	}
	o, err := b.Observe(ctx, "r")
	if err != nil || o.Held {
		return fmt.Errorf("after releasing %s, which had expired: %+v, %s; want not held", h.Token, o, said(err))
	}
	if leftAsItIs {
		return nil
	}
	if _, err := e.hold(ctx, b, "r", e.long); err != nil {
		return fmt.Errorf("the work is over, so the lock-delay of %v has nothing to wait for: %w", r.LockDelay, err)
	}
	return nil
}

func checkPredecessor(ctx context.Context, e *trial) error {
	var p problems
	a, b := e.Open(), e.Open()
	first, err := e.hold(ctx, a, "r", e.long)
	if err != nil {
		return err
	}
	if _, err := a.Renew(ctx, fencedb.RenewRequest{Token: first.Token, TTL: e.long}); err != nil {
		return fmt.Errorf("renewing %s: %w", first.Token, err)
	}
	if err := a.Release(ctx, first.Token); err != nil {
		return fmt.Errorf("releasing %s: %w", first.Token, err)
	}
	second, err := e.expiring(ctx, b, e.request("r", e.ttl))
	if err != nil {
		return err
	}
	third, err := e.takeover(ctx, a, second, second.TTL)
	if err != nil {
		return err
	}
	is := func(h, before holding, end string) {
		got := h.Predecessor
		want := fencedb.Predecessor{Value: before.Token.Value(), GrantID: before.Token.Grant(), Owner: before.owner, End: end, Renewed: got.Renewed, Ended: got.Ended}
		if got != want {
			p.addf("the predecessor of %s is %+v, want %+v", h.Token, got, want)
		}
		if got.Renewed.Before(before.At) || got.Ended.Before(got.Renewed) || h.At.Before(got.Ended) {
			p.addf("%s was granted at %v, its predecessor at %v, renewed at %v and ended at %v", h.Token, h.At, before.At, got.Renewed, got.Ended)
		}
	}
	is(second, first, "released")
	is(third, second, "expired")
	o, err := b.Observe(ctx, "r")
	if err != nil || o.Predecessor != third.Predecessor {
		p.addf("observed: predecessor %+v, %s; want %+v as in the grant", o.Predecessor, said(err), third.Predecessor)
	}
	return p.err()
}

func checkObserve(ctx context.Context, e *trial) error {
	var p problems
	a, b := e.Open(), e.Open()
	observe := func(state string) (o fencedb.Observation, err error) {
		if o, err = b.Observe(ctx, "r"); err != nil {
			return o, fmt.Errorf("observing r, %s: %w", state, err)
		}
		if o.Namespace != b.Namespace() || o.Resource != "r" || o.At.IsZero() {
			p.addf("%s: %+v; want namespace %q, resource r and a time", state, o, b.Namespace())
		}
		return o, nil
	}
	o, err := observe("never granted")
	if err != nil {
		return err
	}
	if o.Held || !o.Token.IsZero() || o.Owner != "" || o.End != "" || o.TakeoverIn() != 0 {
		p.addf("never granted: %+v", o)
	}

	r := e.request("r", e.long)
	r.LockDelay = time.Second
	h, err := e.acquire(ctx, a, r)
	if err != nil {
		return err
	}
	if o, err = observe("held"); err != nil {
		return err
	}
	if !o.Held || o.Token != h.Token || o.Owner != h.owner || o.End != "" || o.TTL != h.TTL || o.Usable != r.Usable || o.LockDelay != r.LockDelay || o.Renewals != 0 {
		p.addf("held: %+v; want token %s of %q, TTL %v, usable %v, lock-delay %v", o, h.Token, h.owner, h.TTL, r.Usable, r.LockDelay)
	}
	if !o.Granted.Equal(h.At) || !o.Renewed.Equal(o.Granted) || o.Expires.Before(o.At) || o.At.Before(o.Granted) {
		p.addf("held since %v: granted %v, renewed %v, expires %v, observed at %v", h.At, o.Granted, o.Renewed, o.Expires, o.At)
	}
	if in := o.TakeoverIn(); in <= 0 || in > h.TTL+r.LockDelay {
		p.addf("held for %v with a lock-delay of %v: a takeover is possible in %v", h.TTL, r.LockDelay, in)
	}
	if conservative, store := o.Remaining(); conservative > r.Usable || store <= 0 || store > h.TTL {
		p.addf("held for %v, usable %v: %v and %v remain", h.TTL, r.Usable, conservative, store)
	}

	usable := (e.long / 3).Truncate(time.Second) // stores count in microseconds, or less
	renewal, err := a.Renew(ctx, fencedb.RenewRequest{Token: h.Token, TTL: e.long, Usable: usable})
	if err != nil {
		return fmt.Errorf("renewing %s: %w", h.Token, err)
	}
	if o, err = observe("renewed"); err != nil {
		return err
	}
	if !o.Held || o.Renewals != 1 || !o.Renewed.Equal(renewal.At) || !o.Granted.Equal(h.At) || o.Usable != usable {
		p.addf("renewed at %v, usable %v: %+v", renewal.At, usable, o)
	}

	if err := a.Release(ctx, h.Token); err != nil {
		return fmt.Errorf("releasing %s: %w", h.Token, err)
	}
	if o, err = observe("released"); err != nil {
		return err
	}
	conservative, store := o.Remaining()
	if o.Held || o.End != "released" || o.Token != h.Token || o.Owner != h.owner || o.TakeoverIn() != 0 || conservative != 0 || store != 0 || o.Expires.After(o.At) {
		p.addf("released: %+v", o)
	}

	if h, err = e.expiring(ctx, a, e.request("r", e.ttl)); err != nil {
		return err
	}
	if o, err = observe("expired"); err != nil {
		return err
	}
	if o.Held || o.End != "expired" || o.Token != h.Token || o.Owner != h.owner || o.TakeoverIn() != 0 || o.Expires.After(o.At) {
		p.addf("expired: %+v", o)
	}
	return p.err()
}

func checkRefusals(ctx context.Context, e *trial) error {
	var p problems
	c := e.Open()
	refused := func(what string, err error) {
		if !errors.Is(err, fencedb.ErrRefused) && !errors.Is(err, fencedb.ErrInvalidToken) {
			p.addf("%s: %s; want an error that matches ErrRefused or ErrInvalidToken", what, said(err))
		}
	}
	h, err := e.hold(ctx, c, "held", e.long)
	if err != nil {
		return err
	}
	held, err := c.Observe(ctx, "held")
	if err != nil {
		return fmt.Errorf("observing held: %w", err)
	}
	free, err := c.Observe(ctx, "free")
	if err != nil {
		return fmt.Errorf("observing free: %w", err)
	}
	for what, change := range map[string]func(*fencedb.AcquireRequest){
		"an acquire without a resource":                 func(r *fencedb.AcquireRequest) { r.Resource = "" },
		"an acquire of a resource with a newline":       func(r *fencedb.AcquireRequest) { r.Resource = "a\nb" },
		"an acquire of a resource not in UTF-8":         func(r *fencedb.AcquireRequest) { r.Resource = "a\xffb" },
		"an acquire of a resource that ends in a blank": func(r *fencedb.AcquireRequest) { r.Resource = "free " },
		"an acquire of a resource that is too long":     func(r *fencedb.AcquireRequest) { r.Resource = strings.Repeat("x", fencedb.MaxResource+1) },
		"an acquire without a grant id":                 func(r *fencedb.AcquireRequest) { r.GrantID = "" },
		"an acquire with a grant id that is too long":   func(r *fencedb.AcquireRequest) { r.GrantID = strings.Repeat("x", fencedb.MaxGrant+1) },
		"an acquire with a slash in its grant id":       func(r *fencedb.AcquireRequest) { r.GrantID = "a/b" },
		"an acquire without a TTL":                      func(r *fencedb.AcquireRequest) { r.TTL = 0 },
		"an acquire with a negative TTL":                func(r *fencedb.AcquireRequest) { r.TTL = -time.Second },
		"an acquire with a negative lock-delay":         func(r *fencedb.AcquireRequest) { r.LockDelay = -time.Second },
	} {
		r := e.request("free", e.long)
		change(&r)
		g, err := c.Acquire(ctx, r)
		refused(what, err)
		if !g.Token.IsZero() {
			p.addf("%s was granted %s", what, g.Token)
		}
	}
	_, err = c.Renew(ctx, fencedb.RenewRequest{TTL: e.long})
	refused("a renewal of the zero token", err)
	for _, ttl := range []time.Duration{0, -time.Second} {
		_, err = c.Renew(ctx, fencedb.RenewRequest{Token: h.Token, TTL: ttl})
		refused(fmt.Sprintf("a renewal with a TTL of %v", ttl), err)
	}
	refused("a release of the zero token", c.Release(ctx, fencedb.Token{}))
	_, err = c.Observe(ctx, "")
	refused("an observation of no resource", err)
	for _, before := range []fencedb.Observation{held, free} {
		if err := unchanged(ctx, c, before, "by malformed requests"); err != nil {
			p = append(p, err)
		}
	}
	return p.err()
}

func checkContexts(ctx context.Context, e *trial) error {
	var p problems
	c := e.Open()
	h, err := e.hold(ctx, c, "held", e.long)
	if err != nil {
		return err
	}
	held, err := c.Observe(ctx, "held")
	if err != nil {
		return fmt.Errorf("observing held: %w", err)
	}
	free, err := c.Observe(ctx, "free")
	if err != nil {
		return fmt.Errorf("observing free: %w", err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	late, cancel := context.WithDeadline(ctx, time.Now().Add(-time.Second))
	defer cancel()
	for _, ended := range []context.Context{canceled, late} {
		for what, call := range map[string]func() error{
			"acquire": func() error { _, err := c.Acquire(ended, e.request("free", e.long)); return err },
			"renew": func() error {
				_, err := c.Renew(ended, fencedb.RenewRequest{Token: h.Token, TTL: 2 * e.long})
				return err
			},
			"release": func() error { return c.Release(ended, h.Token) },
			"observe": func() error { _, err := c.Observe(ended, "held"); return err },
		} {
			start := time.Now()
			err := call()
			if !errors.Is(err, ended.Err()) {
				p.addf("%s, with a context that has ended: %s; want an error that matches %q", what, said(err), ended.Err())
			}
			if took := time.Since(start); took > e.late {
				p.addf("%s, with a context that has ended, took %v", what, took)
			}
		}
	}
	for _, before := range []fencedb.Observation{held, free} {
		if err := unchanged(ctx, c, before, "by requests whose context had ended"); err != nil {
			p = append(p, err)
		}
	}
	return p.err()
}

// A span is one grant as a holder sees it.
type span struct {
	holding
	until time.Time // nobody else may have it before
}

func checkConcurrent(ctx context.Context, e *trial) error {
	const workers, rounds, resources = 4, 8, 2
	var mu sync.Mutex
	var spans []span
	var p problems
	var wg sync.WaitGroup
	for w := range workers {
		c := e.Open()
		wg.Go(func() {
			for n := range rounds {
				crashes := (n+w)%4 == 3 // it neither releases nor renews
				s, err := e.work(ctx, c, fmt.Sprintf("r%d", (n+w)%resources), crashes)
				mu.Lock()
				if err != nil {
					p = append(p, err)
				}
				spans = append(spans, s)
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	if err := p.err(); err != nil {
		return err
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.Token.Value(), b.Token.Value()) })
	for i, b := range spans {
		for _, a := range spans[:i] {
			switch {
			case a.Token.Value() == b.Token.Value():
				p.addf("%s and %s have one number", a.Token, b.Token)
			case b.answered.Before(a.sent):
				p.addf("%s was asked for when %s had been granted, and is smaller", a.Token, b.Token)
			case a.Token.Resource() == b.Token.Resource() && b.answered.Before(a.until.Add(-e.early)):
				p.addf("%s was granted %v before %s was over", b.Token, a.until.Sub(b.answered), a.Token)
			}
		}
	}
	return p.err()
}

// work waits for a resource, holds it for a moment, and releases it unless it crashes.
func (e *trial) work(ctx context.Context, c fencedb.Coordinator, resource string, crashes bool) (span, error) {
	ttl := e.long
	if crashes {
		ttl = e.ttl
	}
	r := e.request(resource, ttl)
	var sent time.Time // the first request that may be the one that was granted
	var g fencedb.Grant
	err := e.repeat(ctx, func() (err error) {
		if sent.IsZero() {
			sent = time.Now()
		}
		if g, err = c.Acquire(ctx, r); errors.Is(err, fencedb.ErrHeld) {
			sent = time.Time{}
		}
		return err
	})
	s := span{holding: holding{g, r.Owner, sent, time.Now()}, until: sent.Add(g.TTL)}
	if err != nil {
		return s, fmt.Errorf("acquiring %s: %w", resource, err)
	}
	if crashes {
		return s, nil
	}
	if err := sleep(ctx, e.poll()); err != nil {
		return s, err
	}
	s.until = time.Now()
	requests := 0
	err = e.repeat(ctx, func() error { requests++; return c.Release(ctx, g.Token) })
	if errors.Is(err, fencedb.ErrSuperseded) && requests > 1 {
		err = nil // an earlier one was carried out, and its answer was lost
	}
	if err != nil {
		err = fmt.Errorf("releasing %s: %w", g.Token, err)
	}
	return s, err
}

// repeat makes a request again as long as another holds the resource, and a few times if its
// outcome is not known, as a holder does.
func (e *trial) repeat(ctx context.Context, do func() error) error {
	unknown := 0
	for {
		err := do()
		if err == nil {
			return nil
		}
		unknown++
		if errors.Is(err, fencedb.ErrHeld) {
			unknown = 0
		}
		for _, final := range []error{fencedb.ErrRefused, fencedb.ErrSuperseded, fencedb.ErrLeaseExpired, fencedb.ErrReleased} {
			if errors.Is(err, final) {
				return err
			}
		}
		if unknown > 10 {
			return err
		}
		if err := sleep(ctx, e.poll()); err != nil {
			return err
		}
	}
}

// foreign is a guard in a database that the coordinator does not have.
type foreign struct {
	*Guard
	problems *problems
}

func (foreign) In(fencedb.Beginner) bool { return false }

func (f foreign) WaitIn(_ context.Context, _ *sql.Tx, resource string) error {
	f.problems.addf("WaitIn(%s) was called on a guard that is in another database", resource)
	return nil
}

func (f foreign) RaiseIn(_ context.Context, _ *sql.Tx, t fencedb.Token) error {
	f.problems.addf("RaiseIn(%s) was called on a guard that is in another database", t)
	return nil
}

func checkGuardElsewhere(ctx context.Context, e *trial) error {
	var p problems
	plain, other := NewGuard(nil), NewGuard(nil)
	r := e.request("r", e.long)
	r.Guards = []fencedb.Guard{struct{ fencedb.Guard }{plain}, foreign{other, &p}}
	h, err := e.acquire(ctx, e.Open(), r)
	if err != nil {
		return err
	}
	for i, g := range []*Guard{plain, other} {
		said := i < len(h.Raised) && h.Raised[i]
		if is := g.Write(ctx, h.Token) == nil; is != said {
			p.addf("guard %d of 2, which is elsewhere: Raised is %v, and it is raised: %v", i+1, said, is)
		}
	}
	return p.err()
}

func checkGuardInGrant(ctx context.Context, e *trial) error {
	var p problems
	a, b := e.Open(), e.Open()
	ask := func() fencedb.AcquireRequest {
		r := e.request("r", e.long)
		r.Guards = []fencedb.Guard{struct{ fencedb.Guard }{NewGuard(nil)}, e.Guard.Guard}
		return r
	}
	raised := func(h holding) {
		if len(h.Raised) < 2 || h.Raised[0] || !h.Raised[1] {
			p.addf("%s: the second of two guards is the coordinator's to raise; Raised is %v", h.Token, h.Raised)
		}
		if err := e.Guard.Write(ctx, h.Token); err != nil {
			p.addf("a write with %s, after the grant: %w", h.Token, err)
		}
	}
	first, err := e.acquire(ctx, a, ask())
	if err != nil {
		return err
	}
	raised(first)
	if _, err := b.Acquire(ctx, ask()); !errors.Is(err, fencedb.ErrHeld) {
		return fmt.Errorf("acquiring r, which is held: %s; want ErrHeld", said(err))
	}
	if err := e.Guard.Write(ctx, first.Token); err != nil {
		p.addf("a write with %s, after another has asked in vain: %w", first.Token, err)
	}
	if err := a.Release(ctx, first.Token); err != nil {
		return fmt.Errorf("releasing %s: %w", first.Token, err)
	}
	second, err := e.acquire(ctx, b, ask())
	if err != nil {
		return err
	}
	raised(second)
	if err := e.Guard.Write(ctx, first.Token); !errors.Is(err, fencedb.ErrStale) {
		p.addf("a write with %s, after %s was granted: %s; want ErrStale", first.Token, second.Token, said(err))
	}
	if err := b.Release(ctx, second.Token); err != nil {
		return fmt.Errorf("releasing %s: %w", second.Token, err)
	}
	// A guard that knows a later token says that the coordinator has forgotten some.
	const known = 1<<62 + 1
	if err := e.Guard.Guard.Raise(ctx, Token("r", known)); err != nil {
		return fmt.Errorf("raising the guard to %d: %w", int64(known), err)
	}
	before, err := a.Observe(ctx, "r")
	if err != nil {
		return fmt.Errorf("observing r: %w", err)
	}
	var regression *fencedb.RegressionError
	g, err := a.Acquire(ctx, ask())
	if err == nil && g.Token.Value() > known { // it has taken the guard for a floor
		return p.err()
	}
	if !errors.As(err, &regression) || regression.Known != known {
		p.addf("a grant whose guard knows %d: %v, %s; want a *RegressionError that says so", int64(known), g.Token, said(err))
	}
	if err := unchanged(ctx, a, before, "by a grant that was not made"); err != nil {
		p = append(p, err)
	}
	return p.err()
}

func checkBreak(ctx context.Context, e *trial) error {
	var p problems
	a, b := e.Open(), e.Open()
	h, err := e.hold(ctx, a, "r", 2*e.ttl)
	if err != nil {
		return err
	}
	if err := e.Break(ctx, "r", false); err != nil {
		return e.unless(h.sent, h.TTL, fmt.Errorf("breaking %s: %w", h.Token, err))
	}
	var held *fencedb.HeldError
	if g, err := b.Acquire(ctx, e.request("r", e.long)); !errors.As(err, &held) || held.End != "broken" {
		return e.unless(h.sent, h.TTL, fmt.Errorf("acquiring r after a break: %v, %s; want a *HeldError that says \"broken\"", g.Token, said(err)))
	}
	if _, err := a.Renew(ctx, fencedb.RenewRequest{Token: h.Token, TTL: e.long}); !errors.Is(err, fencedb.ErrReleased) {
		p.addf("renewing %s, which was broken: %s; want ErrReleased", h.Token, said(err))
	}
	if err := a.Release(ctx, h.Token); !errors.Is(err, fencedb.ErrReleased) {
		p.addf("releasing %s, which was broken: %s; want ErrReleased", h.Token, said(err))
	}
	if o, err := b.Observe(ctx, "r"); err != nil || o.Held || o.End != "broken" {
		p.addf("after a break: %+v, %s", o, said(err))
	}
	after, err := e.takeover(ctx, b, h, h.TTL)
	if err != nil {
		p.addf("after a break, the holder's time has to run out: %w", err)
		return p.err()
	}
	if after.Token.Value() <= h.Token.Value() || after.Predecessor.End != "broken" {
		p.addf("%s, after %s was broken, has the predecessor %+v", after.Token, h.Token, after.Predecessor)
	}
	if err := e.Break(ctx, "r", true); err != nil {
		return fmt.Errorf("breaking %s: %w", after.Token, err)
	}
	last, err := e.hold(ctx, a, "r", e.long)
	if err != nil {
		p.addf("after a break without delay: %w", err)
	} else if last.Token.Value() <= after.Token.Value() {
		p.addf("%s, after %s was broken, is not larger", last.Token, after.Token)
	}
	return p.err()
}

func checkRestart(ctx context.Context, e *trial) error {
	var p problems
	a, b := e.Open(), e.Open()
	held, err := e.hold(ctx, a, "held", e.long)
	if err != nil {
		return err
	}
	released, err := e.hold(ctx, a, "released", e.long)
	if err != nil {
		return err
	}
	if err := a.Release(ctx, released.Token); err != nil {
		return fmt.Errorf("releasing %s: %w", released.Token, err)
	}
	if err := e.Restart(ctx); err != nil {
		return fmt.Errorf("restarting the store: %w", err)
	}
	// Connections that the restart has cut are found out by their first use.
	if err := e.repeat(ctx, func() error { _, err := b.Observe(ctx, "held"); return err }); err != nil {
		return fmt.Errorf("observing held after a restart: %w", err)
	}
	if err := e.busy(ctx, b, held, 0); err != nil {
		p.addf("after a restart: %w", err)
	}
	if err := e.repeat(ctx, func() error {
		_, err := a.Renew(ctx, fencedb.RenewRequest{Token: held.Token, TTL: e.long})
		return err
	}); err != nil {
		p.addf("renewing %s after a restart: %w", held.Token, err)
	}
	for _, resource := range []string{"released", "new"} {
		h, err := e.hold(ctx, b, resource, e.long)
		if err != nil {
			p.addf("after a restart: %w", err)
		} else if h.Token.Value() <= released.Token.Value() {
			p.addf("%s, after a restart, is not larger than %s", h.Token, released.Token)
		}
	}
	return p.err()
}
