package wn03

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var (
	ErrNotAcquired = errors.New("not acquired")
	ErrLost        = errors.New("lock is gone")
)

var releaseScript = redis.NewScript(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("DEL", KEYS[1])`)

// commitScript writes the result only while the lock still has our value.
var commitScript = redis.NewScript(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("HSET", KEYS[2], "state", ARGV[2], "size", ARGV[3])
return 1`)

// Thumbs makes thumbnails, each by one worker.
type Thumbs struct {
	rdb  redis.UniversalClient
	make func(ctx context.Context, image string) (int, error)
}

func (t *Thumbs) Make(ctx context.Context, image string) (err error) {
	lock, value := "{thumb:"+image+"}:lock", uuid.NewString()
	ok, err := t.rdb.SetNX(ctx, lock, value, 30*time.Second).Result() // may:M
	if err != nil {
		return err
	}
	if !ok {
		return ErrNotAcquired
	}
	defer func() {
		_, rerr := releaseScript.Run(context.WithoutCancel(ctx), t.rdb, []string{lock}, value).Int()
		err = errors.Join(err, rerr)
	}()

	wctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	size, err := t.make(wctx, image)
	if err != nil {
		return err
	}
	n, err := commitScript.Run(wctx, t.rdb, []string{lock, "{thumb:" + image + "}"}, value, "ready", size).Int()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrLost
	}
	return nil
}
