package ud04

import (
	"context"
	"database/sql"
	"hash/fnv"
	"log/slog"
	"time"
)

// Scheduler runs maintenance jobs on one replica of the server at a time.
type Scheduler struct {
	db  *sql.DB
	log *slog.Logger
}

func lockID(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return int64(h.Sum64())
}

// RollupUsage takes a session lock from the pool; the session that holds it is
// not the one that later runs the statement.
func (s *Scheduler) RollupUsage(ctx context.Context, day time.Time) error { // may:M
	id := lockID("usage-rollup")
	var got bool
	if err := s.db.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, id).Scan(&got); err != nil {
		return err
	}
	if !got {
		s.log.Debug("rollup runs elsewhere")
		return nil
	}
	var total int64
	err := s.db.QueryRowContext(ctx,
		`SELECT coalesce(sum(bytes), 0) FROM usage_events WHERE day = $1`, day).Scan(&total)
	if err != nil {
		return err
	}
	_, err = s.db.ExecContext(ctx, `UPDATE usage_totals SET bytes = bytes + $2 WHERE day = $1`, day, total) // want:C
	if err != nil {
		return err
	}
	_, err = s.db.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, id) // may:C|S
	return err
}

// Every calls RollupUsage for yesterday.
func (s *Scheduler) Every(ctx context.Context, d time.Duration) {
	t := time.NewTicker(d)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			if err := s.RollupUsage(ctx, now.AddDate(0, 0, -1)); err != nil {
				s.log.Error("rollup", "err", err)
			}
		}
	}
}
