package uc04

import (
	"context"
	"fmt"
	"time"

	"github.com/go-redsync/redsync/v4"
)

// Exclusive runs fn while the named mutex is held and passes its result on.
func Exclusive[T any](ctx context.Context, rs *redsync.Redsync, name string, fn func(context.Context) (T, error)) (T, error) {
	var zero T
	m := rs.NewMutex("mutex/"+name, redsync.WithExpiry(15*time.Second), redsync.WithTries(3)) // may:M
	if err := m.LockContext(ctx); err != nil {                                                // may:M
		return zero, fmt.Errorf("lock %s: %w", name, err)
	}
	defer func() { _, _ = m.UnlockContext(context.WithoutCancel(ctx)) }()
	return fn(ctx)
}
