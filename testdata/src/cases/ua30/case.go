// Package ua30 puts exports back whose exporter died.
package ua30

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"
)

type Rescuer struct {
	db    *sqlx.DB
	grace time.Duration
}

type Stats struct {
	Queued  int `db:"queued"`
	Running int `db:"running"`
}

// Rescue makes claimed exports available again after the grace period.
func (r *Rescuer) Rescue(ctx context.Context) (int64, error) {
	horizon := time.Now().Add(-r.grace)
	q := r.db.Rebind(`
		UPDATE export_job SET state = 'queued', claimed_by = NULL, claimed_at = NULL
		WHERE state = 'running' AND claimed_at < ?`)
	res, err := r.db.ExecContext(ctx, q, horizon) // want:T
	if err != nil {
		return 0, fmt.Errorf("rescue: %w", err)
	}
	return res.RowsAffected()
}

func (r *Rescuer) Stats(ctx context.Context) (s Stats, err error) {
	err = r.db.GetContext(ctx, &s, `
		SELECT count(*) FILTER (WHERE state = 'queued') AS queued,
		       count(*) FILTER (WHERE state = 'running') AS running FROM export_job`)
	return s, err
}

func (r *Rescuer) Loop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(r.grace / 4):
		}
		n, err := r.Rescue(ctx)
		if err != nil {
			slog.Error("rescue", "err", err)
			continue
		}
		if n > 0 {
			slog.Warn("exports put back", "n", n)
		}
	}
}
