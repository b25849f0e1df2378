package xn18

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

var ErrStale = errors.New("tile was drawn by a newer renderer")

// putTile refuses a token below the stored one and remembers a newer one.
//
//fence:write tiles
var putTile = redis.NewScript(`
local cur = tonumber(redis.call("HGET", KEYS[1], "token") or "0")
if tonumber(ARGV[1]) < cur then
  return 0
end
redis.call("HSET", KEYS[1], "token", ARGV[1], "png", ARGV[2])
return 1`)

// dropTile compares in the same way.
//
//fence:write tiles
var dropTile = redis.NewScript(`
local cur = redis.call("HGET", KEYS[1], "token")
if cur and tonumber(cur) > tonumber(ARGV[1]) then
  return 0
end
redis.call("HSET", KEYS[1], "token", ARGV[1])
redis.call("HDEL", KEYS[1], "png")
return 1`)

type Renderer struct {
	rdb   *redis.Client
	token int64
}

func tileKey(z, x, y int) string { return fmt.Sprintf("tile:%d:%d:%d", z, x, y) }

func (r *Renderer) run(ctx context.Context, s *redis.Script, key string, args ...any) error {
	n, err := s.Run(ctx, r.rdb, []string{key}, append([]any{r.token}, args...)...).Int()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrStale
	}
	return nil
}

func (r *Renderer) Put(ctx context.Context, z, x, y int, png []byte) error {
	return r.run(ctx, putTile, tileKey(z, x, y), png)
}

func (r *Renderer) Drop(ctx context.Context, z, x, y int) error {
	return r.run(ctx, dropTile, tileKey(z, x, y))
}

// Style sheets are a cache: the last one in may win.
func (r *Renderer) CacheStyle(ctx context.Context, name string, css []byte) error {
	return r.rdb.Set(ctx, "style:"+name, css, time.Hour).Err()
}

func (r *Renderer) Invalidate(ctx context.Context, names ...string) error {
	for _, n := range names {
		if err := r.rdb.Del(ctx, "style:"+n).Err(); err != nil {
			return err
		}
	}
	return nil
}
