package uc15

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var ErrLocked = errors.New("locked elsewhere")

var unlock = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("DEL", KEYS[1])
end
return 0`)

type locker struct {
	rdb *redis.Client
	ttl time.Duration
}

type heldLock struct {
	l          *locker
	key, value string
}

func (l *locker) try(ctx context.Context, key string) (*heldLock, error) {
	h := &heldLock{l: l, key: key, value: uuid.NewString()}
	ok, err := l.rdb.SetNX(ctx, key, h.value, l.ttl).Result()
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, ErrLocked
	}
	return h, nil
}

func (h *heldLock) free(ctx context.Context) error {
	return unlock.Run(ctx, h.l.rdb, []string{h.key}, h.value).Err() // may:S
}
