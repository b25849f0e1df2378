package uc15

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"example.com/corpus/cases/uc15/db"
)

// Rollups sums usage events by hour, on one of the metering pods.
type Rollups struct {
	locks *locker
	q     *db.Queries
}

func New(pool *pgxpool.Pool, rdb *redis.Client) *Rollups {
	return &Rollups{locks: &locker{rdb: rdb, ttl: 30 * time.Second}, q: db.New(pool)}
}

func (r *Rollups) Hour(ctx context.Context, hour time.Time) error {
	lk, err := r.locks.try(ctx, "lock:rollup") // may:M
	if errors.Is(err, ErrLocked) {
		slog.Debug("rollup runs elsewhere")
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = lk.free(context.WithoutCancel(ctx)) }()

	n, err := r.q.SumHour(ctx, db.SumHourParams{From: hour, To: hour.Add(time.Hour)})
	if err != nil {
		return err
	}
	return r.q.SetRollup(ctx, db.SetRollupParams{Hour: hour, Bytes: n}) // want:C
}
