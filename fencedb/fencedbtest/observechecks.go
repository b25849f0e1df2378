package fencedbtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fencelint/fence/fencedb"
)

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
	h, before, err := e.heldAndFree(ctx, c)
	if err != nil {
		return err
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
	for _, o := range before {
		if err := unchanged(ctx, c, o, "by malformed requests"); err != nil {
			p = append(p, err)
		}
	}
	return p.err()
}

// heldAndFree has the resource held be held, and returns what is observed of it and of free: for
// requests that must change nothing.
func (e *trial) heldAndFree(ctx context.Context, c fencedb.Coordinator) (h holding, before []fencedb.Observation, err error) {
	if h, err = e.hold(ctx, c, "held", e.long); err != nil {
		return h, nil, err
	}
	for _, resource := range []string{"held", "free"} {
		o, err := c.Observe(ctx, resource)
		if err != nil {
			return h, nil, fmt.Errorf("observing %s: %w", resource, err)
		}
		before = append(before, o)
	}
	return h, before, nil
}

func checkContexts(ctx context.Context, e *trial) error {
	var p problems
	c := e.Open()
	h, before, err := e.heldAndFree(ctx, c)
	if err != nil {
		return err
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
	for _, o := range before {
		if err := unchanged(ctx, c, o, "by requests whose context had ended"); err != nil {
			p = append(p, err)
		}
	}
	return p.err()
}
