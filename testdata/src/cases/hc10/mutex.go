package hc10

import (
	"context"
	"errors"
	"os"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

var ErrTaken = errors.New("taken by another process")

// RedisMutex is a small mutex over one key.
type RedisMutex struct {
	c    redis.UniversalClient
	name string
	me   string
}

func NewRedisMutex(c redis.UniversalClient, name string) *RedisMutex {
	host, _ := os.Hostname()
	return &RedisMutex{c: c, name: "mutex:" + name, me: host + "/" + strconv.Itoa(os.Getpid())}
}

func (m *RedisMutex) Lock(ctx context.Context, ttl time.Duration) error {
	ok, err := m.c.SetNX(ctx, m.name, m.me, ttl).Result()
	switch {
	case err != nil:
		return err
	case !ok:
		return ErrTaken
	}
	return nil
}

func (m *RedisMutex) Unlock(ctx context.Context) error {
	switch cur, err := m.c.Get(ctx, m.name).Result(); {
	case errors.Is(err, redis.Nil):
		return nil
	case err != nil:
		return err
	case cur == m.me:
		return m.c.Del(ctx, m.name).Err() // want:C
	default:
		return ErrTaken
	}
}
