package uf01

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var ErrNotHeld = errors.New("mutex is not held by this process")

// mutex is a single-instance lock; the token is new for every value.
type mutex struct {
	rdb   redis.UniversalClient
	key   string
	token string
	ttl   time.Duration
}

type option func(*mutex)

func withTTL(d time.Duration) option { return func(m *mutex) { m.ttl = d } }

func newMutex(rdb redis.UniversalClient, name string, opts ...option) *mutex {
	m := &mutex{rdb: rdb, key: "lock:" + name, token: uuid.NewString(), ttl: 30 * time.Second}
	for _, o := range opts {
		o(m)
	}
	return m
}

func (m *mutex) TryLock(ctx context.Context) (bool, error) {
	return m.rdb.SetNX(ctx, m.key, m.token, m.ttl).Result()
}

func (m *mutex) Held(ctx context.Context) (bool, error) {
	v, err := m.rdb.Get(ctx, m.key).Result()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return v == m.token, nil
}

// Unlock looks first and deletes then.
func (m *mutex) Unlock(ctx context.Context) error {
	held, err := m.Held(ctx)
	if err != nil {
		return err
	}
	if !held {
		return ErrNotHeld
	}
	return m.rdb.Del(ctx, m.key).Err() // want:C
}
