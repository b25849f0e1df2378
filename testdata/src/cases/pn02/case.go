package pn02

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

var ErrNotHolder = errors.New("another node holds the lock")

var (
	setIfHolder = redis.NewScript(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call("HSET", KEYS[2], ARGV[2], ARGV[3])
return 1`)

	delIfHolder = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("DEL", KEYS[1])
end
return 0`)
)

// Progress is written by whoever holds the lock of an import.
type Progress struct {
	rdb   *redis.Client
	lock  string
	value string // made when the lock was taken
}

// Save looks first, which spares the script call in the common case of a lost
// lock; what counts is the comparison in the script.
func (p *Progress) Save(ctx context.Context, imp, field string, done int64) error {
	cur, err := p.rdb.Get(ctx, p.lock).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	if cur != p.value {
		return ErrNotHolder
	}
	n, err := setIfHolder.Run(ctx, p.rdb, []string{p.lock, "import:" + imp}, p.value, field, done).Int64()
	if err != nil {
		return fmt.Errorf("save progress of %s: %w", imp, err)
	}
	if n == 0 {
		return ErrNotHolder
	}
	return nil
}

func (p *Progress) Close(ctx context.Context) error {
	n, err := delIfHolder.Run(ctx, p.rdb, []string{p.lock}, p.value).Int64()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrNotHolder
	}
	return nil
}
