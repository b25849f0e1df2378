package hn13

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type Job struct {
	ID       int64
	Name     string
	Interval time.Duration
	NextRun  time.Time
}

type Scheduler struct {
	pool *pgxpool.Pool
	run  func(context.Context, Job) error
}

// Tick runs what is due while it holds the rows; next_run is a schedule.
func (s *Scheduler) Tick(ctx context.Context) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		now := time.Now()
		rows, err := tx.Query(ctx, `SELECT id, name, every, next_run FROM schedules WHERE next_run <= $1 FOR UPDATE SKIP LOCKED`, now)
		if err != nil {
			return err
		}
		jobs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Job])
		if err != nil {
			return err
		}
		for _, j := range jobs {
			if j.NextRun.Before(now.Add(-24 * time.Hour)) {
				continue
			}
			if err := s.run(ctx, j); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `UPDATE schedules SET next_run = $2, last_run = $3 WHERE id = $1`, j.ID, now.Add(j.Interval), now); err != nil {
				return err
			}
		}
		return nil
	})
}
