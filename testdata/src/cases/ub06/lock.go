package ub06

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var errNotOwner = errors.New("lock is not ours any more")

type mutex struct {
	rdb   *redis.Client
	key   string
	value string
}

func newMutex(rdb *redis.Client, name string) *mutex {
	return &mutex{rdb: rdb, key: "mutex:" + name, value: uuid.NewString()}
}

func (m *mutex) tryLock(ctx context.Context, ttl time.Duration) bool {
	ok, err := m.rdb.SetNX(ctx, m.key, m.value, ttl).Result()
	return err == nil && ok
}

func (m *mutex) unlock(ctx context.Context) error {
	holder, err := m.rdb.Get(ctx, m.key).Result()
	if errors.Is(err, redis.Nil) {
		return nil
	}
	if err != nil {
		return err
	}
	if holder != m.value {
		return errNotOwner
	}
	return m.rdb.Del(ctx, m.key).Err() // want:C
}
