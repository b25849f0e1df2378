package ub02

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
)

// ErrBusy says that another node does the work right now.
var ErrBusy = errors.New("settlement: busy on another node")

type locker struct {
	c   *redislock.Client
	ttl time.Duration
}

// exclusively runs fn while this node holds name.
func (l *locker) exclusively(ctx context.Context, name string, fn func(context.Context) error) error {
	lk, err := l.c.Obtain(ctx, "lock:"+name, l.ttl, nil) // may:M
	if errors.Is(err, redislock.ErrNotObtained) {
		return ErrBusy
	}
	if err != nil {
		return err
	}
	defer func() { _ = lk.Release(context.WithoutCancel(ctx)) }()
	return fn(ctx) // may:C
}
