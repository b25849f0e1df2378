package ub10

import (
	"context"
	"fmt"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/redis/go-redis/v9"
)

// Roller computes the daily roll-up of page views.
type Roller struct {
	rs  *redsync.Redsync
	rdb redis.UniversalClient
}

func (r *Roller) Roll(ctx context.Context, site, day string) error {
	mu := r.rs.NewMutex("rollup:"+site, redsync.WithExpiry(30*time.Second), redsync.WithTries(1)) // may:M
	if err := mu.LockContext(ctx); err != nil {                                                   // may:M
		return fmt.Errorf("rollup %s: %w", site, err)
	}
	defer func() { _, _ = mu.UnlockContext(context.WithoutCancel(ctx)) }()

	views, err := r.views(ctx, site, day)
	if err != nil {
		return err
	}
	var sum, top int64
	for _, v := range views {
		sum += v
		top = max(top, v)
	}
	return r.store(ctx, site, day, sum, top)
}
