package hn18

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	luaDel = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`
	luaSet = `if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("SET", KEYS[2], ARGV[2])
return 1`
)

var errLost = errors.New("lock was lost")

type Guard struct {
	rdb *redis.Client
	key string
	val string
}

func Acquire(ctx context.Context, rdb *redis.Client, key string) (*Guard, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, err
	}
	g := &Guard{rdb, key, hex.EncodeToString(b[:])}
	if err := rdb.SetArgs(ctx, key, g.val, redis.SetArgs{Mode: "NX", TTL: 10 * time.Second}).Err(); err != nil {
		return nil, err
	}
	return g, nil
}

func (g *Guard) Store(ctx context.Context, key string, body []byte) error {
	n, err := g.rdb.Eval(ctx, luaSet, []string{g.key, key}, g.val, body).Int()
	if err == nil && n == 0 {
		err = errLost
	}
	return err
}

func (g *Guard) Close(ctx context.Context) error {
	return g.rdb.Eval(ctx, luaDel, []string{g.key}, g.val).Err()
}

func Publish(ctx context.Context, rdb *redis.Client, page string, body []byte) error {
	g, err := Acquire(ctx, rdb, "publish:"+page)
	if err != nil {
		return err
	}
	defer g.Close(ctx)
	return g.Store(ctx, "page:"+page, body)
}
