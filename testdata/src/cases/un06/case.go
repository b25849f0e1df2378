// Package un06 fires schedules from any number of replicas.
package un06

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type schedule struct {
	id     int64
	name   string
	period time.Duration
	next   time.Time
}

type Cron struct {
	pool *pgxpool.Pool
	// enqueue adds the work to a table in the same transaction.
	enqueue func(ctx context.Context, tx pgx.Tx, name string, at time.Time) error
}

// fire handles one due schedule; the row stays locked until the commit.
func (c *Cron) fire(ctx context.Context) (found bool, err error) {
	err = pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		var s schedule
		var secs int64
		now := time.Now()
		err := tx.QueryRow(ctx, `
			SELECT id, name, period_seconds, next_run FROM cron_schedule
			WHERE next_run <= $1 ORDER BY next_run LIMIT 1 FOR UPDATE SKIP LOCKED`, now).
			Scan(&s.id, &s.name, &secs, &s.next)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		found = true
		s.period = time.Duration(secs) * time.Second
		if err := c.enqueue(ctx, tx, s.name, s.next); err != nil {
			return fmt.Errorf("schedule %s: %w", s.name, err)
		}
		for !s.next.After(now) {
			s.next = s.next.Add(s.period)
		}
		_, err = tx.Exec(ctx, `UPDATE cron_schedule SET next_run = $2, last_run = $3 WHERE id = $1`, s.id, s.next, now)
		return err
	})
	return found, err
}

// Run looks for due schedules until ctx ends.
func (c *Cron) Run(ctx context.Context) error {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		for {
			found, err := c.fire(ctx)
			if err != nil {
				return err
			}
			if !found {
				break
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}
