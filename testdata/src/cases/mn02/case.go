package mn02

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

//go:embed save.lua
var saveSrc string

var (
	save    = redis.NewScript(saveSrc)
	release = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`)

	ErrLost = errors.New("lock was lost")
	ErrHeld = errors.New("lock is held")
)

// Guard is one acquisition of a lock.
type Guard struct {
	rdb   redis.UniversalClient
	key   string
	value string
}

func Acquire(ctx context.Context, rdb redis.UniversalClient, key string, ttl time.Duration) (*Guard, error) {
	g := &Guard{rdb: rdb, key: key, value: uuid.NewString()}
	ok, err := rdb.SetNX(ctx, key, g.value, ttl).Result()
	if err != nil {
		return nil, fmt.Errorf("acquire %s: %w", key, err)
	}
	if !ok {
		return nil, ErrHeld
	}
	return g, nil
}

// Save stores a field only while this acquisition holds the lock.
func (g *Guard) Save(ctx context.Context, hash, field string, v []byte) error {
	n, err := save.Run(ctx, g.rdb, []string{g.key, hash}, g.value, field, v).Int()
	if err != nil {
		return fmt.Errorf("save %s: %w", hash, err)
	}
	if n == 0 {
		return ErrLost
	}
	return nil
}

func (g *Guard) Release(ctx context.Context) error {
	n, err := release.Run(ctx, g.rdb, []string{g.key}, g.value).Int()
	if err != nil {
		return fmt.Errorf("release %s: %w", g.key, err)
	}
	if n == 0 {
		return ErrLost
	}
	return nil
}
