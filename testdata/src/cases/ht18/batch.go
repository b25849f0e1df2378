package ht18

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

type querier interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

const sweepLeases = `DELETE FROM worker_leases WHERE expires_at <= $1`

// Sweep removes leases that other workers let run out, by this host's clock.
func Sweep(ctx context.Context, q querier) error {
	b := new(pgx.Batch)
	b.Queue(sweepLeases, time.Now().UTC()) // want:T
	b.Queue(`UPDATE counters SET swept = swept + 1`)
	return q.SendBatch(ctx, b).Close()
}
