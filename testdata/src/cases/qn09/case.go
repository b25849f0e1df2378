package qn09

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var ErrNotHeld = errors.New("lock is not held")

var (
	release = redis.NewScript(`
if redis.call("get", KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call("del", KEYS[1])`)

	extend = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
  return redis.call("pexpire", KEYS[1], ARGV[2])
end
return 0`)

	// saveUnderLock writes the report only while the lock has this value.
	saveUnderLock = redis.NewScript(`
if redis.call("get", KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call("hset", KEYS[2], "body", ARGV[2], "at", redis.call("time")[1])
return 1`)
)

type Locks struct{ rdb redis.UniversalClient }

// Held is one acquisition; val is unique to it.
type Held struct {
	l        *Locks
	key, val string
}

func (l *Locks) TryAcquire(ctx context.Context, name string, ttl time.Duration) (*Held, error) {
	h := &Held{l: l, key: "{" + name + "}:lock", val: uuid.NewString()}
	ok, err := l.rdb.SetNX(ctx, h.key, h.val, ttl).Result()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrNotHeld
	}
	return h, nil
}

func (h *Held) Release(ctx context.Context) error {
	return held(release.Run(ctx, h.l.rdb, []string{h.key}, h.val))
}

func (h *Held) Extend(ctx context.Context, ttl time.Duration) error {
	return held(extend.Run(ctx, h.l.rdb, []string{h.key}, h.val, ttl.Milliseconds()))
}

func (h *Held) SaveReport(ctx context.Context, name string, body []byte) error {
	return held(saveUnderLock.Run(ctx, h.l.rdb, []string{h.key, "{" + name + "}:report"}, h.val, body))
}

func held(c *redis.Cmd) error {
	n, err := c.Int()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrNotHeld
	}
	return nil
}
