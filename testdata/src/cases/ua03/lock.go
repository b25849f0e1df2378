package ua03

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
)

var errBusy = errors.New("already running elsewhere")

// exclusive runs functions one at a time over all replicas.
type exclusive struct {
	lc  *redislock.Client
	ttl time.Duration
}

func (e *exclusive) do(ctx context.Context, key string, fn func(context.Context) error) error {
	lk, err := e.lc.Obtain(ctx, key, e.ttl, &redislock.Options{
		RetryStrategy: redislock.LimitRetry(redislock.LinearBackoff(200*time.Millisecond), 5),
	})
	switch {
	case errors.Is(err, redislock.ErrNotObtained):
		return errBusy
	case err != nil:
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go e.keep(ctx, lk, cancel)
	defer func() { _ = lk.Release(context.WithoutCancel(ctx)) }()
	return fn(ctx)
}

func (e *exclusive) keep(ctx context.Context, lk *redislock.Lock, lost context.CancelFunc) {
	t := time.NewTicker(e.ttl / 4)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if err := lk.Refresh(ctx, e.ttl, nil); err != nil {
				lost()
				return
			}
		}
	}
}
