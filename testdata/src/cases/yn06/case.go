package yn06

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"
)

type schedule struct {
	id     int64
	name   string
	period time.Duration
	runAt  time.Time
}

// Planner turns due schedules into queued jobs. The row is advanced from the
// very instant that was read, so that two planners cannot both queue a tick.
type Planner struct{ db *sql.DB }

func (p *Planner) due(ctx context.Context) ([]schedule, error) {
	rows, err := p.db.QueryContext(ctx,
		`SELECT id, name, period_ns, run_at FROM schedules WHERE run_at <= $1`, time.Now())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []schedule
	for rows.Next() {
		var s schedule
		if err := rows.Scan(&s.id, &s.name, &s.period, &s.runAt); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

func (p *Planner) tick(ctx context.Context, s schedule) error {
	if late := time.Since(s.runAt); late > s.period {
		slog.Warn("schedule is behind", "name", s.name, "late", late)
	}
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	res, err := tx.ExecContext(ctx,
		`UPDATE schedules SET run_at = $3 WHERE id = $1 AND run_at = $2`, s.id, s.runAt, s.runAt.Add(s.period))
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	_, err = tx.ExecContext(ctx,
		`INSERT INTO queue (schedule, tick) VALUES ($1, $2) ON CONFLICT (schedule, tick) DO NOTHING`, s.name, s.runAt)
	if err != nil {
		return fmt.Errorf("queue %s: %w", s.name, err)
	}
	return tx.Commit()
}

func (p *Planner) Run(ctx context.Context) error {
	all, err := p.due(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := p.tick(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
