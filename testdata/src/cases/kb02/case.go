// Package kb02 has a Redis lock for the thumbnail workers of a photo site: the
// value of the key says until when it is taken.
package kb02

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

var ErrLocked = errors.New("lock is taken")

type Locker struct {
	rdb      redis.UniversalClient
	retries  int
	interval time.Duration
}

func (l *Locker) Lock(ctx context.Context, name string, d time.Duration) error {
	for i := 0; i <= l.retries; i++ {
		ok, err := l.try(ctx, "lock:"+name, d)
		if err != nil {
			return err
		}
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(l.interval):
		}
	}
	return ErrLocked
}

func (l *Locker) try(ctx context.Context, key string, d time.Duration) (bool, error) {
	now := time.Now().UnixMilli()
	mine := now + d.Milliseconds()

	ok, err := l.rdb.SetNX(ctx, key, mine, 0).Result()
	if err != nil {
		return false, err
	}
	if ok {
		return true, nil
	}

	raw, err := l.rdb.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	until, err := strconv.ParseInt(raw, 10, 64)
	if err != nil {
		return false, err
	}
	if now < until { // want:T
		return false, nil
	}
	// run out: only one contender sees the old value come back
	prev, err := l.rdb.GetSet(ctx, key, mine).Result() // may:C
	if err != nil {
		return false, err
	}
	return prev == raw, nil
}

func (l *Locker) Unlock(ctx context.Context, name string) error {
	return l.rdb.Del(ctx, "lock:"+name).Err() // may:C
}
