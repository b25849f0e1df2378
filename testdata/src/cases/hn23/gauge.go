package hn23

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"k8s.io/client-go/tools/leaderelection"
)

type Stats struct {
	db *sql.DB
	le *leaderelection.LeaderElector
	up func(name string, v float64)
}

// Report reads the database only on the leader; it changes nothing.
func (s *Stats) Report(ctx context.Context) {
	for ctx.Err() == nil {
		time.Sleep(15 * time.Second)
		if !s.le.IsLeader() {
			s.up("leader", 0)
			continue
		}
		s.up("leader", 1)
		var n float64
		if err := s.db.QueryRowContext(ctx, `SELECT count(*) FROM queue`).Scan(&n); err != nil {
			slog.Warn("stats", "err", err)
			continue
		}
		s.up("queue_depth", n)
	}
}

// Touch runs on every node, leader or not.
func (s *Stats) Touch(ctx context.Context, node string) error {
	_, err := s.db.ExecContext(ctx, `UPDATE nodes SET seen_at = now(), leader = $2 WHERE name = $1`, node, s.le.IsLeader())
	return err
}
