package hx07

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var ErrLocked = errors.New("resource is locked")

// Locker is the usual SET NX lock.
type Locker struct {
	rdb *redis.Client
	ttl time.Duration
}

func (l *Locker) Lock(ctx context.Context, key string) (unlock func(), err error) { // may:M
	token := uuid.NewString()
	ok, err := l.rdb.SetNX(ctx, "lock:"+key, token, l.ttl).Result()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrLocked
	}
	return func() {
		ctx := context.WithoutCancel(ctx)
		val, err := l.rdb.Get(ctx, "lock:"+key).Result()
		if err != nil {
			return
		}
		if val != token {
			return
		}
		l.rdb.Del(ctx, "lock:"+key) // want:C
	}, nil
}
