// Package ua13 is a daemon of which one copy should be active.
package ua13

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

const activeKey = "poller:leader"

type Daemon struct {
	rdb  *redis.Client
	id   string
	ttl  time.Duration
	poll func(context.Context) error
}

func NewDaemon(rdb *redis.Client, poll func(context.Context) error) *Daemon {
	return &Daemon{rdb: rdb, id: uuid.NewString(), ttl: 15 * time.Second, poll: poll}
}

// becomeActive reports whether this copy is the active one.
func (d *Daemon) becomeActive(ctx context.Context) (bool, error) {
	cur, err := d.rdb.Get(ctx, activeKey).Result()
	switch {
	case errors.Is(err, redis.Nil):
		if err := d.rdb.Set(ctx, activeKey, d.id, d.ttl).Err(); err != nil { // want:C
			return false, fmt.Errorf("become active: %w", err)
		}
		slog.Info("now active", "id", d.id)
		return true, nil
	case err != nil:
		return false, err
	case cur != d.id:
		return false, nil
	}
	if err := d.rdb.Expire(ctx, activeKey, d.ttl).Err(); err != nil { // may:C
		return false, fmt.Errorf("stay active: %w", err)
	}
	return true, nil
}

func (d *Daemon) Run(ctx context.Context) error {
	t := time.NewTicker(d.ttl / 5)
	defer t.Stop()
	for {
		on, err := d.becomeActive(ctx)
		if err != nil {
			slog.Warn("active", "err", err)
		}
		if on {
			if err := d.poll(ctx); err != nil {
				slog.Error("poll", "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	}
}
