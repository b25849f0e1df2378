// Package elect keeps a flag that follows the leadership of this pod.
package elect

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

type Gate struct {
	leading atomic.Bool
	lock    resourcelock.Interface
}

func New(lock resourcelock.Interface) *Gate { return &Gate{lock: lock} }

// Leading reports whether this pod leads, as far as it knows.
func (g *Gate) Leading() bool { return g.leading.Load() }

func (g *Gate) Run(ctx context.Context) error {
	le, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          g.lock,
		LeaseDuration: 30 * time.Second,
		RenewDeadline: 20 * time.Second,
		RetryPeriod:   5 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				g.leading.Store(true)
				<-ctx.Done()
			},
			OnStoppedLeading: func() { g.leading.Store(false) },
		},
	})
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		le.Run(ctx)
	}
	return ctx.Err()
}
