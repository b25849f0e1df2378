package fencedbtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fencelint/fence/fencedb"
)

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
	released, err := e.released(ctx, a)
	if err != nil {
		return err
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
