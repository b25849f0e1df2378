package hx04

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Rollups are computed by one process at a time. The advisory lock lives on a
// connection of its own; the work uses the pool.
type Rollup struct {
	pool *pgxpool.Pool
}

func lockKey(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return int64(h.Sum64())
}

// Exclusive returns false when another process is at it.
func (r *Rollup) Exclusive(ctx context.Context, name string, fn func(context.Context) error) (bool, error) {
	conn, err := r.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Release()

	var ok bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, lockKey(name)).Scan(&ok); err != nil {
		return false, fmt.Errorf("advisory lock %s: %w", name, err)
	}
	if !ok {
		return false, nil
	}
	defer func() {
		_, _ = conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, lockKey(name))
	}()
	return true, fn(ctx) // may:C
}

func (r *Rollup) Hourly(ctx context.Context) error {
	_, err := r.Exclusive(ctx, "rollup:hourly", r.hourly) // may:C
	return err
}

type bucket struct {
	Hour  int64
	Count int64
}

func (r *Rollup) hourly(ctx context.Context) error {
	rows, err := r.pool.Query(ctx, `
		SELECT extract(epoch FROM date_trunc('hour', at))::bigint, count(*)
		FROM hits WHERE NOT rolled GROUP BY 1`)
	if err != nil {
		return err
	}
	bs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[bucket])
	if err != nil {
		return err
	}
	for _, b := range bs {
		// a dropped lock connection leaves this loop running
		_, err := r.pool.Exec(ctx, `UPDATE hits_hourly SET n = n + $2 WHERE hour = $1`, b.Hour, b.Count) // want:C
		if err != nil {
			return err
		}
	}
	return nil
}
