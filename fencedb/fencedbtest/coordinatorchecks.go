package fencedbtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
