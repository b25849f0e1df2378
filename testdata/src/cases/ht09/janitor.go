package ht09

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"example.com/corpus/cases/ht09/db"
)

type Janitor struct {
	q     *db.Queries
	grace time.Duration
}

func (j *Janitor) Sweep(ctx context.Context) {
	before := pgtype.Timestamptz{Time: time.Now().Add(-j.grace), Valid: true}
	n, err := j.q.RequeueStale(ctx, before) // want:T
	if err != nil {
		slog.Error("requeue", "err", err)
		return
	}
	if n > 0 {
		slog.Info("requeued", "runs", n)
	}
}
