package uf14

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

var ErrBusy = errors.New("task is locked")

// takeOver replaces the value only if it is the one that was read.
var takeOver = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
	redis.call("SET", KEYS[1], ARGV[2])
	return 1
end
return 0`)

// onceLock never lets the key expire: value is "worker|deadline in ms", so that
// a monitor can show who had it last.
type onceLock struct {
	rdb    redis.Scripter
	get    func(ctx context.Context, key string) *redis.StringCmd
	setNX  func(ctx context.Context, key string, v any, d time.Duration) *redis.BoolCmd
	worker string
	hold   time.Duration
}

func newOnceLock(c *redis.Client, worker string, hold time.Duration) *onceLock {
	return &onceLock{rdb: c, get: c.Get, setNX: c.SetNX, worker: worker, hold: hold}
}

func (l *onceLock) value(now time.Time) string {
	return l.worker + "|" + strconv.FormatInt(now.Add(l.hold).UnixMilli(), 10)
}

func parse(v string) (worker string, deadline int64, err error) {
	worker, ms, ok := strings.Cut(v, "|")
	if !ok {
		return "", 0, fmt.Errorf("malformed lock value %q", v)
	}
	deadline, err = strconv.ParseInt(ms, 10, 64)
	return worker, deadline, err
}

func (l *onceLock) Acquire(ctx context.Context, key string) error { // may:C|W|M|S
	now := time.Now()
	ok, err := l.setNX(ctx, key, l.value(now), 0).Result()
	if err != nil {
		return err
	}
	if ok {
		return nil
	}
	old, err := l.get(ctx, key).Result()
	if err != nil {
		return err
	}
	holder, deadline, err := parse(old)
	if err != nil {
		return err
	}
	if now.UnixMilli() < deadline { // want:T
		return fmt.Errorf("%w by %s", ErrBusy, holder)
	}
	n, err := takeOver.Run(ctx, l.rdb, []string{key}, old, l.value(now)).Int()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrBusy
	}
	return nil
}
