package uc26

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var ErrNotHeld = errors.New("lease is not held")

var (
	extend = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`)
	save   = redis.NewScript(`if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("SET", KEYS[2], ARGV[2])
return 1`)
)

// Lease is this process's view of the key it set.
type Lease struct {
	rdb      *redis.Client
	key      string
	token    string
	deadline time.Time
}

func Take(ctx context.Context, rdb *redis.Client, key string, ttl time.Duration) (*Lease, error) {
	l := &Lease{rdb: rdb, key: key, token: uuid.NewString()}
	l.deadline = time.Now().UTC().Add(ttl - ttl/10) // may:T
	ok, err := rdb.SetNX(ctx, key, l.token, ttl).Result()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrNotHeld
	}
	return l, nil
}

// Held tells whether the lease can still be relied on. UTC has dropped the
// monotonic reading, so a step of the host's clock moves the deadline.
func (l *Lease) Held() bool {
	return time.Now().UTC().Before(l.deadline) // want:T
}

func (l *Lease) Extend(ctx context.Context, ttl time.Duration) error {
	start := time.Now().UTC()
	n, err := extend.Run(ctx, l.rdb, []string{l.key}, l.token, ttl.Milliseconds()).Int()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrNotHeld
	}
	l.deadline = start.Add(ttl - ttl/10) // may:T
	return nil
}

// Save stores a value under the lease; the script compares the token again.
func (l *Lease) Save(ctx context.Context, key string, v []byte) error {
	if !l.Held() { // may:T
		return ErrNotHeld
	}
	n, err := save.Run(ctx, l.rdb, []string{l.key, key}, l.token, v).Int()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrNotHeld
	}
	return nil
}
