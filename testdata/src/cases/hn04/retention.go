package hn04

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
)

type Cleaner struct {
	db   *sqlx.DB
	keep time.Duration
}

func (c *Cleaner) Run(ctx context.Context) error {
	t := time.NewTicker(time.Hour)
	defer t.Stop()
	for {
		start := time.Now()
		if _, err := c.db.ExecContext(ctx, `DELETE FROM events WHERE created_at < $1`, start.Add(-c.keep)); err != nil {
			return err
		}
		if _, err := c.db.NamedExecContext(ctx, `DELETE FROM sessions WHERE user_id <> 0 AND expires_at < :now`,
			map[string]any{"now": time.Now()}); err != nil {
			return err
		}
		if time.Since(start) > time.Minute {
			c.keep /= 2
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	}
}
