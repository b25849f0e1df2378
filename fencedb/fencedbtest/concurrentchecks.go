package fencedbtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fencelint/fence/fencedb"
)

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
