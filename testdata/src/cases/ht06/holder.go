package ht06

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// grip is a held lock; validUntil is this process' own idea of its end.
type grip struct {
	key, secret string
	mu          sync.Mutex
	validUntil  time.Time
}

var extend = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) end
return 0`)

func take(ctx context.Context, rdb *redis.Client, key string, ttl time.Duration) (*grip, error) {
	g := &grip{key: key, secret: uuid.NewString(), validUntil: time.Now().UTC().Add(ttl - ttl/4)}
	ok, err := rdb.SetNX(ctx, key, g.secret, ttl).Result()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("lock %s is held", key)
	}
	return g, nil
}

func (g *grip) renew(ctx context.Context, rdb *redis.Client, ttl time.Duration) error {
	sent := time.Now().UTC()
	n, err := extend.Run(ctx, rdb, []string{g.key}, g.secret, ttl.Milliseconds()).Int()
	if err != nil {
		return err
	}
	if n != 1 {
		return fmt.Errorf("lock %s lost", g.key)
	}
	g.mu.Lock()
	g.validUntil = sent.Add(ttl - ttl/4)
	g.mu.Unlock()
	return nil
}

// Held reports whether the lock may still be relied on.
func (g *grip) Held() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Now().Before(g.validUntil) // want:T
}
