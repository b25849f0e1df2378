package ue16

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"example.com/corpus/cases/ue16/queries"
)

// Maintainer puts exports back whose worker went silent.
type Maintainer struct {
	q       *queries.Queries
	silence time.Duration
	maxTry  int32
}

// Touch is called by workers between two files.
func Touch(ctx context.Context, q *queries.Queries, id int64, worker string) error {
	return q.TouchJob(ctx, queries.TouchJobParams{ID: id, Worker: &worker, TouchedAt: time.Now()}) // may:T|S
}

func (m *Maintainer) Sweep(ctx context.Context) error {
	back, err := m.q.RequeueSilent(ctx, time.Now().Add(-m.silence)) // want:T
	if err != nil {
		return fmt.Errorf("requeue silent exports: %w", err)
	}
	for _, j := range back {
		if j.Attempt > m.maxTry {
			slog.Warn("export keeps failing", "id", j.ID, "attempt", j.Attempt)
		}
	}
	return nil
}

func (m *Maintainer) Loop(ctx context.Context) error {
	t := time.NewTicker(m.silence / 2)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			if err := m.Sweep(ctx); err != nil {
				slog.Error("sweep", "err", err)
			}
		}
	}
}
