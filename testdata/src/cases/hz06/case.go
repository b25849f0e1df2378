package hz06

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var (
	unlock = redis.NewScript(`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end`)

	// store writes the document only while the lock still carries the token.
	store = redis.NewScript(`
if redis.call('get', KEYS[1]) ~= ARGV[1] then
	return 0
end
redis.call('set', KEYS[2], ARGV[2])
return 1`)
)

var ErrLost = errors.New("lock lost")

type Docs struct {
	rdb redis.UniversalClient
	ttl time.Duration
}

type held struct {
	d     *Docs
	key   string
	token string
}

func (d *Docs) lock(ctx context.Context, id string) (*held, error) {
	h := &held{d: d, key: "{" + id + "}:lock", token: uuid.NewString()}
	for {
		ok, err := d.rdb.SetNX(ctx, h.key, h.token, d.ttl).Result()
		if err != nil {
			return nil, err
		}
		if ok {
			return h, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (h *held) release(ctx context.Context) {
	_ = unlock.Run(context.WithoutCancel(ctx), h.d.rdb, []string{h.key}, h.token).Err()
}

// Edit applies fn to the document under its lock.
func (d *Docs) Edit(ctx context.Context, id string, fn func([]byte) ([]byte, error)) error { // may:M
	h, err := d.lock(ctx, id)
	if err != nil {
		return err
	}
	defer h.release(ctx)
	doc := "{" + id + "}:doc"
	old, err := d.rdb.Get(ctx, doc).Bytes()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	body, err := fn(old)
	if err != nil {
		return err
	}
	n, err := store.Run(ctx, d.rdb, []string{h.key, doc}, h.token, body).Int()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrLost
	}
	return nil
}
