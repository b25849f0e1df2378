package wn06

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type entry struct {
	ID    int64
	Name  string
	Every time.Duration
	Next  time.Time
}

// Cron runs entries whose time has come. The row stays locked from the choice
// to the commit, so two nodes never have the same entry.
type Cron struct {
	pool *pgxpool.Pool
	jobs map[string]func(ctx context.Context, tx pgx.Tx) error
}

func (c *Cron) Loop(ctx context.Context) {
	for {
		ran, err := c.one(ctx)
		if err != nil {
			slog.Error("cron", "err", err)
		}
		if ran {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

func (c *Cron) one(ctx context.Context) (ran bool, err error) {
	err = pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		var e entry
		err := tx.QueryRow(ctx, `
			SELECT id, name, every, next_run_at FROM cron_entry
			WHERE enabled AND next_run_at <= $1
			ORDER BY next_run_at LIMIT 1 FOR UPDATE SKIP LOCKED`, time.Now()).
			Scan(&e.ID, &e.Name, &e.Every, &e.Next)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		job, ok := c.jobs[e.Name]
		if !ok {
			return fmt.Errorf("unknown entry %q", e.Name)
		}
		ran = true
		if err := job(ctx, tx); err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		next := e.Next
		for !next.After(time.Now()) {
			next = next.Add(e.Every)
		}
		_, err = tx.Exec(ctx, `UPDATE cron_entry SET next_run_at = $2, last_run_at = now() WHERE id = $1`, e.ID, next)
		return err
	})
	return ran, err
}
