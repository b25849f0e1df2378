package uf29

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

type Handler func(ctx context.Context, payload []byte) error

// Once makes a task queue run a task with one name at most once per period.
type Once struct {
	client redis.UniversalClient
	prefix string
	lease  time.Duration
	period time.Duration
}

func NewOnce(c redis.UniversalClient, prefix string) *Once {
	return &Once{client: c, prefix: prefix, lease: time.Minute, period: 24 * time.Hour}
}

func (o *Once) key(kind, name string) string { return fmt.Sprintf("%s:%s:%s", o.prefix, kind, name) }

// unlock removes whatever lock is there: all processes store the same value.
func (o *Once) unlock(ctx context.Context, name string) error {
	return o.client.Del(ctx, o.key("lock", name)).Err() // want:C|W
}

// Wrap returns a handler that skips what is done or in work.
func (o *Once) Wrap(name string, next Handler) Handler {
	return func(ctx context.Context, payload []byte) (err error) {
		n, err := o.client.Exists(ctx, o.key("done", name)).Result()
		if err != nil {
			return fmt.Errorf("look up %s: %w", name, err)
		}
		if n != 0 {
			return nil
		}
		ok, err := o.client.SetNX(ctx, o.key("lock", name), "locked", o.lease).Result() // may:M
		if err != nil {
			return fmt.Errorf("lock %s: %w", name, err)
		}
		if !ok {
			return nil
		}
		defer func() {
			if uerr := o.unlock(context.WithoutCancel(ctx), name); err == nil { // may:C|W
				err = uerr
			}
		}()
		if err := next(ctx, payload); err != nil { // may:C|E
			return err
		}
		return o.client.Set(ctx, o.key("done", name), time.Now().Unix(), o.period).Err() // want:C|W
	}
}
