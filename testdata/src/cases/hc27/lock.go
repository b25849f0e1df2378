package hc27

import (
	"context"
	"errors"
	"os"

	"github.com/redis/go-redis/v9"
)

var ErrHeld = errors.New("lock is held")

// Lock looks whether the lock key exists and sets it afterwards.
func Lock(ctx context.Context, c redis.Cmdable, name string) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	n, err := c.Exists(ctx, "lock:"+name).Result()
	if err != nil {
		return err
	}
	if n > 0 {
		return ErrHeld
	}
	return c.Set(ctx, "lock:"+name, host, 0).Err() // want:C
}

func Unlock(ctx context.Context, c redis.Cmdable, name string) error {
	return c.Del(ctx, "lock:"+name).Err() // may:C
}
