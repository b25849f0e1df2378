// Package kc10 is a Redis lock with compare-and-delete in Lua.
package kc10

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var (
	ErrTaken = errors.New("taken")
	ErrGone  = errors.New("lock has run out")
)

var release = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("DEL", KEYS[1])
end
return 0`)

var extend = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("PEXPIRE", KEYS[1], ARGV[2])
end
return 0`)

type Mutex struct {
	rdb redis.Scripter
	key string
	val string
}

func Take(ctx context.Context, rdb *redis.Client, key string, ttl time.Duration) (*Mutex, error) {
	m := &Mutex{rdb: rdb, key: "mutex:" + key, val: uuid.NewString()}
	ok, err := rdb.SetNX(ctx, m.key, m.val, ttl).Result()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrTaken
	}
	return m, nil
}

func (m *Mutex) Extend(ctx context.Context, ttl time.Duration) error {
	n, err := extend.Run(ctx, m.rdb, []string{m.key}, m.val, ttl.Milliseconds()).Int()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrGone
	}
	return nil
}

func (m *Mutex) Free(ctx context.Context) error {
	n, err := release.Run(ctx, m.rdb, []string{m.key}, m.val).Int()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrGone
	}
	return nil
}

// Cached is the page cache next to it: get, compare, delete, but of no lock.
func Cached(ctx context.Context, rdb *redis.Client, page, etag string) error {
	cur, err := rdb.Get(ctx, "page:"+page).Result()
	if errors.Is(err, redis.Nil) {
		return nil
	}
	if err != nil {
		return err
	}
	if cur != etag {
		return rdb.Del(ctx, "page:"+page).Err()
	}
	return nil
}
