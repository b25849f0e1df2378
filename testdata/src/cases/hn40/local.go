package hn40

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var errExpired = errors.New("local deadline passed")

const renewLua = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0`

// Lease counts its own deadline from before the request on the monotonic clock.
type Lease struct {
	rdb       *redis.Client
	key       string
	owner     string
	ttl       time.Duration
	mu        sync.Mutex
	expiresAt time.Time
}

func Grab(ctx context.Context, rdb *redis.Client, key string, ttl time.Duration) (*Lease, error) {
	l := &Lease{rdb: rdb, key: key, owner: uuid.NewString(), ttl: ttl, expiresAt: time.Now().Add(ttl * 3 / 4)}
	ok, err := rdb.SetNX(ctx, key, l.owner, ttl).Result()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errors.New("taken")
	}
	return l, nil
}

func (l *Lease) Valid() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Now().Before(l.expiresAt)
}

func (l *Lease) Renew(ctx context.Context) error {
	if !l.Valid() {
		return errExpired
	}
	sent := time.Now()
	n, err := l.rdb.Eval(ctx, renewLua, []string{l.key}, l.owner, l.ttl.Milliseconds()).Int()
	if err != nil {
		return err
	}
	if n != 1 {
		return errExpired
	}
	l.mu.Lock()
	l.expiresAt = sent.Add(l.ttl * 3 / 4)
	l.mu.Unlock()
	return nil
}
