// Package ua01 is the usage meter of a hosting platform. One replica rolls raw
// events up into daily totals.
package ua01

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Main blocks until ctx ends or another replica has taken over.
func Main(ctx context.Context, cs kubernetes.Interface, pool *pgxpool.Pool, ns string) error {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("hostname: %w", err)
	}
	m := &meter{pool: pool, every: time.Minute, log: slog.With("component", "meter")}

	rl := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: ns, Name: "usage-meter"},
		Client:     cs.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + uuid.NewString()},
	}
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock:          rl,
		Name:          "usage-meter",
		LeaseDuration: 15 * time.Second,
		RenewDeadline: 10 * time.Second,
		RetryPeriod:   2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: m.run,
			OnStoppedLeading: func() {
				m.log.Error("lost the election, exiting")
				os.Exit(1)
			},
			OnNewLeader: func(id string) { m.log.Info("leader changed", "id", id) },
		},
	})
	return nil
}
