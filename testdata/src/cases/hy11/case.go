package hy11

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var renewScript = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("pexpire", KEYS[1], ARGV[2])
end
return 0`)

var ErrNotHeld = errors.New("lease not held")

// Lease remembers until when this process may act as the holder.
type Lease struct {
	rdb   *redis.Client
	key   string
	value string
	ttl   time.Duration

	mu        sync.Mutex
	expiresAt time.Time
}

const margin = 2 * time.Second

func Take(ctx context.Context, rdb *redis.Client, key string, ttl time.Duration) (*Lease, error) { // may:M
	l := &Lease{rdb: rdb, key: key, value: uuid.NewString(), ttl: ttl}
	sent := time.Now()
	ok, err := rdb.SetNX(ctx, key, l.value, ttl).Result()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrNotHeld
	}
	l.extendTo(sent)
	return l, nil
}

func (l *Lease) extendTo(sent time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expiresAt = sent.UTC().Add(l.ttl - margin) // may:T
}

// Valid is asked before every step of the work.
func (l *Lease) Valid() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Now().UTC().Before(l.expiresAt) // want:T
}

func (l *Lease) Renew(ctx context.Context) error {
	sent := time.Now()
	n, err := renewScript.Run(ctx, l.rdb, []string{l.key}, l.value, l.ttl.Milliseconds()).Int64()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrNotHeld
	}
	l.extendTo(sent)
	return nil
}
