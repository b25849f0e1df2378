// Package ha wraps the Kubernetes leader election for the whole service.
package ha

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

type Elector struct {
	lock   resourcelock.Interface
	leader atomic.Bool
}

func New(lock resourcelock.Interface) *Elector { return &Elector{lock: lock} }

// IsLeader tells whether this replica leads at the moment.
func (e *Elector) IsLeader() bool { return e.leader.Load() }

func (e *Elector) Run(ctx context.Context) error {
	le, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{ // may:M
		Lock:            e.lock,
		LeaseDuration:   30 * time.Second,
		RenewDeadline:   20 * time.Second,
		RetryPeriod:     5 * time.Second,
		ReleaseOnCancel: false,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { e.leader.Store(true) },
			OnStoppedLeading: func() { e.leader.Store(false) },
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
