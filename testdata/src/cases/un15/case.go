// Package un15 plans digests: the leader adds one row per day and kind, and a
// second leader would find the row.
package un15

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

type Planner struct {
	db    *sql.DB
	kinds []string
}

func (p *Planner) Main(ctx context.Context, lock resourcelock.Interface) error {
	le, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: 15 * time.Second,
		RenewDeadline: 10 * time.Second,
		RetryPeriod:   2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: p.loop,
			OnStoppedLeading: func() {
				slog.Error("no longer the planner")
				os.Exit(1)
			},
		},
	})
	if err != nil {
		return err
	}
	le.Run(ctx)
	return nil
}

func (p *Planner) loop(ctx context.Context) {
	t := time.NewTicker(time.Minute)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			if err := p.plan(ctx, now); err != nil {
				slog.Error("plan", "err", err)
			}
		}
	}
}

func (p *Planner) plan(ctx context.Context, now time.Time) error {
	day := now.UTC().Format(time.DateOnly)
	for _, k := range p.kinds {
		_, err := p.db.ExecContext(ctx,
			`INSERT INTO digest_plan (day, kind, state) VALUES ($1, $2, 'planned') ON CONFLICT (day, kind) DO NOTHING`, day, k)
		if err != nil {
			return fmt.Errorf("digest %s of %s: %w", k, day, err)
		}
	}
	return nil
}
