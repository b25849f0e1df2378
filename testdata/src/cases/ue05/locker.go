package ue05

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var ErrLocked = errors.New("somebody else is at it")

// Locker is the usual SET NX PX lock.
type Locker struct {
	rdb    *redis.Client
	prefix string
}

// Lock returns a function that gives the lock back.
func (l *Locker) Lock(ctx context.Context, name string, ttl time.Duration) (func(context.Context) error, error) {
	key, val := l.prefix+name, uuid.NewString()
	ok, err := l.rdb.SetNX(ctx, key, val, ttl).Result()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrLocked
	}
	return func(ctx context.Context) error {
		got, err := l.rdb.Get(ctx, key).Result()
		if errors.Is(err, redis.Nil) {
			return nil
		}
		if err != nil {
			return err
		}
		if got != val {
			return ErrLocked
		}
		return l.rdb.Del(ctx, key).Err() // want:C
	}, nil
}
