package ub01

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Planner turns schedules into their next run time; one replica leads.
type Planner struct {
	db    *sql.DB
	lock  resourcelock.Interface
	every time.Duration
	next  func(spec string, after time.Time) (time.Time, error)
}

type schedule struct {
	id   int64
	spec string
	due  time.Time
}

func (p *Planner) Run(ctx context.Context) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock:          p.lock,
		LeaseDuration: 15 * time.Second,
		RenewDeadline: 10 * time.Second,
		RetryPeriod:   2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: p.lead,
			OnStoppedLeading: func() { slog.Info("planner: no longer leading") },
		},
	})
}

func (p *Planner) lead(ctx context.Context) {
	t := time.NewTicker(p.every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		due, err := p.due(ctx)
		if err != nil {
			slog.Error("planner: due", "err", err)
			continue
		}
		for _, s := range due {
			if err := p.advance(ctx, s); err != nil {
				slog.Error("planner: advance", "schedule", s.id, "err", err)
			}
		}
	}
}

func (p *Planner) due(ctx context.Context) ([]schedule, error) {
	rows, err := p.db.QueryContext(ctx, `SELECT id, spec, next_run FROM schedule WHERE next_run <= now() AND NOT paused`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []schedule
	for rows.Next() {
		var s schedule
		if err := rows.Scan(&s.id, &s.spec, &s.due); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

func (p *Planner) advance(ctx context.Context, s schedule) error {
	n, err := p.next(s.spec, s.due)
	if err != nil {
		return err
	}
	_, err = p.db.ExecContext(ctx, `UPDATE schedule SET prev_run = $2, next_run = $3 WHERE id = $1`, s.id, s.due, n) // want:C
	return err
}
