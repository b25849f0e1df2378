package uf31

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/corpus/cases/uf31/dbq"
)

var ErrBusy = errors.New("exporter runs elsewhere")

type Exporter struct {
	q        *dbq.Queries
	name     string
	instance string
	ttl      time.Duration
	batch    func(ctx context.Context, from int64) (next int64, err error)
}

// Export ships one batch and moves the cursor; the lease may have gone to
// another instance while the batch was under way.
func (e *Exporter) Export(ctx context.Context, from int64) (err error) { // may:M
	n, err := e.q.TakeLease(ctx, dbq.TakeLeaseParams{Exporter: e.name, Instance: e.instance, Secs: e.ttl.Seconds()})
	if err != nil {
		return fmt.Errorf("take lease: %w", err)
	}
	if n == 0 {
		return ErrBusy
	}
	defer func() {
		err = errors.Join(err, e.q.DropLease(context.WithoutCancel(ctx), e.name)) // want:W|C
	}()
	next, err := e.batch(ctx, from) // may:C|E
	if err != nil {
		return fmt.Errorf("export from %d: %w", from, err)
	}
	return e.q.SetCursor(ctx, dbq.SetCursorParams{Exporter: e.name, Cursor: next}) // want:W|C
}
