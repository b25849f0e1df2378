package fencedbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/fencelint/fence/fencedb"
)

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
	released, err := e.released(ctx, a)
	if err != nil {
		return err
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
