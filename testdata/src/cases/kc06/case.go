// Package kc06 publishes the endpoints of a mesh from the elected controller.
package kc06

import (
	"context"
	"log/slog"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
)

type Publisher struct {
	cs     kubernetes.Interface
	ns     string
	gather func(context.Context) (map[string]string, error)
}

func (p *Publisher) Run(ctx context.Context, pod string) {
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, p.ns, "mesh-endpoints",
		p.cs.CoreV1(), p.cs.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: pod})
	if err != nil {
		slog.Error("lock", "err", err)
		return
	}
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				for ctx.Err() == nil {
					if err := p.publish(ctx); err != nil {
						slog.Error("publish", "err", err)
					}
					select {
					case <-ctx.Done():
					case <-time.After(30 * time.Second):
					}
				}
			},
			OnStoppedLeading: func() {
				slog.Error("leadership lost")
				os.Exit(1)
			},
		},
	})
}

// publish changes the object it has read; the API server compares the
// resource version.
func (p *Publisher) publish(ctx context.Context) error {
	data, err := p.gather(ctx)
	if err != nil {
		return err
	}
	maps := p.cs.CoreV1().ConfigMaps(p.ns)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		cm, err := maps.Get(ctx, "mesh-endpoints", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if cm.Data == nil {
			cm.Data = map[string]string{}
		}
		for k, v := range data {
			cm.Data[k] = v
		}
		_, err = maps.Update(ctx, cm, metav1.UpdateOptions{})
		return err
	})
}
