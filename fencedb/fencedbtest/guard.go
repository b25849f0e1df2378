package fencedbtest

import (
	"context"
	"fmt"
	"sync"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/protocol"
)

// A Guard is a [fencedb.Guard] in the memory of the test, with the rule of guard rows: a
// write is let through only with the token to which the guard was raised last, and a raise
// waits for the writes of its resource that are under way. It passes [RunGuard]. Any number
// of goroutines may use one.
type Guard struct {
	network network
	mu      sync.Mutex
	rows    map[string]*guardRow // by resource
}

// NewGuard returns a guard that was never raised. Faults, which may be nil, decides what
// becomes of raises and writes: a slow guard is one with delays, a failing one has an Err.
func NewGuard(faults Faults) *Guard {
	return &Guard{network: network{faults: faults}, rows: make(map[string]*guardRow)}
}

// Raise implements [fencedb.Guard].
func (g *Guard) Raise(ctx context.Context, t fencedb.Token) error {
	return g.send(ctx, OpRaise, t, func(row *guardRow) error {
		next, c := row.Raise(t.Value(), t.Grant())
		row.Guard = next
		return row.decide(t, c)
	})
}

// Write is a write with t that changes nothing: nil says that it would have been accepted.
// Errors are those of [fencedb.GuardTable.InScope].
func (g *Guard) Write(ctx context.Context, t fencedb.Token) error {
	return g.InScope(ctx, t, func() error { return nil })
}

// InScope runs fn with the guard of t's resource locked, after it has compared t. Writes of
// one resource run one after another. Fn must not use the guard. Errors are fn's, and those
// of [fencedb.GuardTable.InScope].
func (g *Guard) InScope(ctx context.Context, t fencedb.Token, fn func() error) error {
	return g.send(ctx, OpWrite, t, func(row *guardRow) error {
		if err := row.decide(t, row.Compare(t.Value(), t.Grant())); err != nil {
			return err
		}
		return fn()
	})
}

// Known returns what the guard of a resource knows, the zero values if it was never raised.
func (g *Guard) Known(ctx context.Context, resource string) (protocol.Guard, error) {
	row := g.row(resource)
	if err := row.lock(ctx); err != nil {
		return protocol.Guard{}, fmt.Errorf("fencedbtest: reading the guard of %s: %w", resource, err)
	}
	defer row.unlock()
	return row.Guard, nil
}

func (g *Guard) send(ctx context.Context, op Op, t fencedb.Token, do func(*guardRow) error) error {
	if t.IsZero() {
		return fmt.Errorf("%w: the zero token %ss nothing", fencedb.ErrInvalidToken, op)
	}
	_, err := send(ctx, &g.network, about(op, t), func() (struct{}, error) {
		row := g.row(t.Resource())
		if err := row.lock(ctx); err != nil {
			return struct{}{}, fmt.Errorf("fencedbtest: waiting for the guard of %s: %w", t.Resource(), err)
		}
		defer row.unlock()
		return struct{}{}, do(row)
	})
	return err
}

func (g *Guard) row(resource string) *guardRow {
	g.mu.Lock()
	defer g.mu.Unlock()
	row, ok := g.rows[resource]
	if !ok {
		row = &guardRow{locked: make(chan struct{}, 1)}
		g.rows[resource] = row
	}
	return row
}

// A guardRow is the guard of one resource. Its lock can be waited for with a context.
type guardRow struct {
	locked chan struct{} // full while it is locked
	protocol.Guard
}

func (r *guardRow) lock(ctx context.Context) error {
	select {
	case r.locked <- struct{}{}: // also if ctx has ended: a request that was sent arrives
		return nil
	default:
	}
	select {
	case r.locked <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *guardRow) unlock() { <-r.locked }

// decide returns the error that a comparison of t with the row is.
func (r *guardRow) decide(t fencedb.Token, c protocol.Comparison) error {
	switch c {
	case protocol.Stale:
		return &fencedb.StaleError{Resource: t.Resource(), Presented: t.Value(), Current: r.Value}
	case protocol.NotGranted:
		return fmt.Errorf("%w: the guard of %s knows %d and not yet %d: raise it first", fencedb.ErrNotGranted, t.Resource(), r.Value, t.Value())
	case protocol.Conflict:
		return &fencedb.ConflictError{Resource: t.Resource(), Value: t.Value(), Presented: t.Grant(), Current: r.GrantID}
	}
	return nil
}
