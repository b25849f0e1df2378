package wz33

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	ErrMoved = errors.New("cart has a newer writer")
	ErrBusy  = errors.New("cart keeps changing")
)

var putIfOwner = redis.NewScript(`
local have = redis.call('GET', KEYS[2])
if have and tonumber(have) > tonumber(ARGV[1]) then
	return redis.error_reply('STALE ' .. have)
end
redis.call('SET', KEYS[2], ARGV[1])
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 'OK'
`)

type Carts struct {
	rdb *redis.Client
	ttl time.Duration
}

func keys(id string) (body, fence string) { return "cart:" + id, "cart:" + id + ":fence" }

func (c *Carts) Put(ctx context.Context, id string, token int64, body []byte) error {
	b, f := keys(id)
	err := putIfOwner.Run(ctx, c.rdb, []string{b, f}, token, body, c.ttl.Milliseconds()).Err()
	if err != nil && redis.HasErrorPrefix(err, "STALE") {
		return ErrMoved
	}
	return err
}

// Merge reads, computes and writes under WATCH: EXEC fails if either key was
// touched since, so the comparison in Go still holds when the write happens.
func (c *Carts) Merge(ctx context.Context, id string, token int64, merge func([]byte) ([]byte, error)) error {
	b, f := keys(id)
	step := func(tx *redis.Tx) error {
		have, err := tx.Get(ctx, f).Int64()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		if have > token {
			return ErrMoved
		}
		old, err := tx.Get(ctx, b).Bytes()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		body, err := merge(old)
		if err != nil {
			return fmt.Errorf("merge %s: %w", id, err)
		}
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Set(ctx, f, token, 0)
			if len(body) == 0 {
				p.Del(ctx, b)
			} else {
				p.Set(ctx, b, body, c.ttl)
			}
			return nil
		})
		return err
	}
	for range 4 {
		err := c.rdb.Watch(ctx, step, b, f)
		if !errors.Is(err, redis.TxFailedErr) {
			return err
		}
	}
	return ErrBusy
}

// Seen is a key of its own, no part of a cart.
func (c *Carts) Seen(ctx context.Context, user string) error {
	return c.rdb.Set(ctx, "seen:"+user, 1, time.Hour).Err()
}
