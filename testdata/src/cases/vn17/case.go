package vn17

import (
	"context"
	"database/sql"
	"log/slog"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// The replica that leads says so in a gauge and in the log. The clean-up runs
// in every replica and is harmless to repeat.
type Node struct {
	db      *sql.DB
	lock    resourcelock.Interface
	leading atomic.Int64
	started time.Time
}

func (n *Node) Elect(ctx context.Context) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: n.lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				n.leading.Store(1)
				slog.Info("leading", "uptime", time.Since(n.started))
				<-ctx.Done()
			},
			OnStoppedLeading: func() { n.leading.Store(0) },
			OnNewLeader:      func(id string) { slog.Info("leader", "id", id) },
		},
	})
}

func (n *Node) Cleanup(ctx context.Context, keep time.Duration) {
	t := time.NewTicker(time.Hour)
	defer t.Stop()
	for {
		if err := n.purge(ctx, time.Now().Add(-keep)); err != nil {
			slog.Error("purge", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

func (n *Node) purge(ctx context.Context, before time.Time) error {
	if _, err := n.db.ExecContext(ctx, `DELETE FROM upload WHERE abandoned AND created_at < $1`, before); err != nil {
		return err
	}
	if _, err := n.db.ExecContext(ctx, `DELETE FROM login_session WHERE expires_at < $1`, time.Now()); err != nil {
		return err
	}
	_, err := n.db.ExecContext(ctx, `UPDATE download_link SET active = false WHERE valid_until < $1 AND active`, time.Now())
	return err
}

// Recent lists what was seen in the last day.
func (n *Node) Recent(ctx context.Context) (count int, err error) {
	err = n.db.QueryRowContext(ctx, `SELECT count(*) FROM visitor WHERE last_seen > $1`, time.Now().AddDate(0, 0, -1)).Scan(&count)
	return count, err
}
