// Package store keeps the schedules.
package store

import (
	"context"
	"database/sql"
	"time"
)

type Schedule struct {
	ID    int64
	Cron  string
	Next  time.Time
	Runs  int64
	Image string
}

type Schedules struct{ DB *sql.DB }

func (s *Schedules) Due(ctx context.Context, limit int) ([]Schedule, error) {
	rows, err := s.DB.QueryContext(ctx,
		`SELECT id, cron, next_at, runs, image FROM schedule WHERE next_at <= now() ORDER BY next_at LIMIT $1`, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Schedule
	for rows.Next() {
		var v Schedule
		if err := rows.Scan(&v.ID, &v.Cron, &v.Next, &v.Runs, &v.Image); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// Advance moves a schedule on to its next occurrence.
func (s *Schedules) Advance(ctx context.Context, id int64, next time.Time, runs int64) error {
	_, err := s.DB.ExecContext(ctx, `UPDATE schedule SET next_at = $2, runs = $3 WHERE id = $1`, id, next, runs) // may:C
	return err
}
