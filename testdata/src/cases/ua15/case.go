// Package ua15 publishes catalogue editions from one of several pods.
package ua15

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"example.com/corpus/cases/ua15/catalog"
)

type Controller struct {
	st   *catalog.Store
	lock resourcelock.Interface

	chosen atomic.Bool
	wake   chan struct{}
}

func NewController(st *catalog.Store, lock resourcelock.Interface) *Controller {
	return &Controller{st: st, lock: lock, wake: make(chan struct{}, 1)}
}

func (c *Controller) Start(ctx context.Context) error {
	le, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          c.lock,
		LeaseDuration: 30 * time.Second,
		RenewDeadline: 20 * time.Second,
		RetryPeriod:   5 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {
				c.chosen.Store(true)
				c.Wake()
			},
			OnStoppedLeading: func() { c.chosen.Store(false) },
		},
	})
	if err != nil {
		return err
	}
	go c.work(ctx)
	for ctx.Err() == nil {
		le.Run(ctx)
	}
	return ctx.Err()
}

// Wake asks for a round before the next tick.
func (c *Controller) Wake() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *Controller) work(ctx context.Context) {
	t := time.NewTicker(20 * time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		case <-c.wake:
		}
		if !c.chosen.Load() {
			continue
		}
		eds, err := c.st.Drafts(ctx)
		if err != nil {
			slog.Error("drafts", "err", err)
			continue
		}
		for _, e := range eds {
			if err := c.st.Publish(ctx, e); err != nil { // want:C
				slog.Error("publish", "shop", e.Shop, "err", err)
			}
		}
	}
}
