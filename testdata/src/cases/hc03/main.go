package hc03

import (
	"context"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

type rollup struct {
	Day   time.Time `db:"day"`
	Total int64     `db:"total"`
}

type Aggregator struct {
	db *sqlx.DB
}

func (a *Aggregator) Start(ctx context.Context, cs kubernetes.Interface, pod, ns string) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "rollup", Namespace: ns},
			Client:     cs.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: pod},
		},
		LeaseDuration: 15 * time.Second,
		RenewDeadline: 10 * time.Second,
		RetryPeriod:   2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: a.lead,
			OnStoppedLeading: func() { slog.Warn("no longer leading") },
		},
	})
}

func (a *Aggregator) lead(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := a.aggregate(ctx); err != nil {
			slog.Error("rollup", "err", err)
		}
	}
}

func (a *Aggregator) aggregate(ctx context.Context) error {
	var rows []rollup
	if err := a.db.SelectContext(ctx, &rows, `SELECT day, sum(amount) AS total FROM sales GROUP BY day`); err != nil {
		return err
	}
	for i := range rows {
		if rows[i].Total == 0 {
			continue
		}
		if _, err := a.db.NamedExecContext(ctx, `UPDATE daily_totals SET total = :total WHERE day = :day`, &rows[i]); err != nil { // want:C
			return err
		}
	}
	return nil
}
