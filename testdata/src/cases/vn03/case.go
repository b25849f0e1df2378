package vn03

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// The acquiring script mints a fence; the store refuses older ones.

var acquire = redis.NewScript(`
if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
	return redis.call("INCR", KEYS[2])
end
return 0`)

var release = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
	return redis.call("DEL", KEYS[1])
end
return 0`)

var store = redis.NewScript(`
local seen = tonumber(redis.call("HGET", KEYS[1], "fence") or "0")
if tonumber(ARGV[1]) < seen then
	return 0
end
redis.call("HSET", KEYS[1], "fence", ARGV[1], "body", ARGV[2])
return 1`)

var (
	ErrBusy  = errors.New("busy")
	ErrStale = errors.New("a newer holder has written")
)

type Renderer struct {
	rdb    *redis.Client
	ttl    time.Duration
	render func(ctx context.Context, id string) (string, error)
}

func (r *Renderer) Refresh(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, r.ttl*2/3)
	defer cancel()
	nonce := uuid.NewString()
	keys := []string{"render:lock:" + id, "render:fence:" + id}
	fence, err := acquire.Run(ctx, r.rdb, keys, nonce, r.ttl.Milliseconds()).Int64()
	if err != nil {
		return err
	}
	if fence == 0 {
		return ErrBusy
	}
	defer func() { _ = release.Run(context.WithoutCancel(ctx), r.rdb, keys[:1], nonce).Err() }()

	body, err := r.render(ctx, id)
	if err != nil {
		return err
	}
	ok, err := store.Run(ctx, r.rdb, []string{"render:page:" + id}, fence, body).Int()
	if err != nil {
		return err
	}
	if ok == 0 {
		return ErrStale
	}
	return nil
}
