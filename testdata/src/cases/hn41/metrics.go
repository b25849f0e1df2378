package hn41

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type row struct {
	ID         int64
	Worker     string
	LockedAt   time.Time
	LastError  string
	CreatedAt  time.Time
	FinishedAt *time.Time
}

// Ages only shows how long jobs have been running.
func Ages(ctx context.Context, pool *pgxpool.Pool, observe func(worker string, seconds float64)) error {
	rows, err := pool.Query(ctx, `SELECT id, worker, locked_at, last_error, created_at, finished_at FROM jobs WHERE finished_at IS NULL`)
	if err != nil {
		return err
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	if err != nil {
		return err
	}
	for _, r := range all {
		observe(r.Worker, time.Since(r.LockedAt).Seconds())
		slog.Debug("job", "id", r.ID, "age", time.Since(r.CreatedAt))
	}
	_, err = pool.Exec(ctx, `DELETE FROM jobs WHERE finished_at < $1`, time.Now().Add(-72*time.Hour))
	return err
}
