package hx03

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Accountant aggregates tenant usage into Postgres. The deployment has three
// replicas; the Kubernetes lease decides which one aggregates.
type Accountant struct {
	pool *pgxpool.Pool
	log  *slog.Logger
}

func Main(ctx context.Context, cs kubernetes.Interface, a *Accountant, ns string) {
	host, err := os.Hostname()
	if err != nil {
		a.log.Error("hostname", "err", err)
		return
	}
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Name: "usage-accountant", Namespace: ns},
		Client:     cs.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: host},
	}
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{ // may:M
		Lock:          lock,
		LeaseDuration: 15 * time.Second,
		RenewDeadline: 10 * time.Second,
		RetryPeriod:   2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: a.loop, // may:C
			OnStoppedLeading: func() { a.log.Info("no longer leading") },
		},
	})
}

func (a *Accountant) loop(ctx context.Context) {
	t := time.NewTicker(time.Minute)
	defer t.Stop()
	for {
		if err := a.aggregate(ctx); err != nil { // may:C
			a.log.Error("aggregate", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

func (a *Accountant) aggregate(ctx context.Context) error {
	rows, err := a.pool.Query(ctx, `SELECT tenant, sum(bytes) FROM usage_event WHERE seen = false GROUP BY tenant`)
	if err != nil {
		return err
	}
	defer rows.Close()
	sums := map[string]int64{}
	for rows.Next() {
		var tenant string
		var n int64
		if err := rows.Scan(&tenant, &n); err != nil {
			return err
		}
		sums[tenant] = n
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for tenant, n := range sums {
		_, err := a.pool.Exec(ctx, `UPDATE tenant_usage SET bytes = bytes + $2, updated_at = now() WHERE tenant = $1`, tenant, n) // want:C
		if err != nil {
			return err
		}
	}
	_, err = a.pool.Exec(ctx, `UPDATE usage_event SET seen = true WHERE seen = false`) // want:C
	return err
}
