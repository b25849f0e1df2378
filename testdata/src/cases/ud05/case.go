package ud05

import (
	"context"
	"database/sql"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Exporter stores the allocation of cluster costs; one replica computes it.
type Exporter struct {
	kube kubernetes.Interface
	db   *sql.DB
	cost func(ctx context.Context, ns string) (int64, error)
}

func (e *Exporter) Run(ctx context.Context) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "cost-exporter", Namespace: "monitoring"},
			Client:     e.kube.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: os.Getenv("POD_NAME")},
		},
		LeaseDuration: 15 * time.Second,
		RenewDeadline: 10 * time.Second,
		RetryPeriod:   2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: e.lead,
			OnStoppedLeading: func() { os.Exit(1) },
		},
	})
}

func (e *Exporter) lead(ctx context.Context) {
	t := time.NewTicker(time.Minute)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			_ = e.collect(ctx)
		}
	}
}

func (e *Exporter) collect(ctx context.Context) error {
	list, err := e.kube.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, ns := range list.Items {
		c, err := e.cost(ctx, ns.Name)
		if err != nil {
			return err
		}
		if err := e.save(ctx, ns.Name, c); err != nil {
			return err
		}
	}
	return nil
}

func (e *Exporter) save(ctx context.Context, ns string, cents int64) error {
	_, err := e.db.ExecContext(ctx, `UPDATE allocations SET cents = $2, updated_at = now() WHERE namespace = $1`, ns, cents) // want:C
	return err
}
