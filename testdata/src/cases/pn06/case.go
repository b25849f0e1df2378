package pn06

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Two-level cache: entries carry the time at which they go stale, a local
// mutex per key keeps this process from computing a value twice.

type entry struct {
	Value   json.RawMessage `json:"value"`
	Expires time.Time       `json:"expires"`
}

func (e entry) fresh() bool { return time.Now().Before(e.Expires) }

type Cache struct {
	rdb *redis.Client
	ttl time.Duration

	mu    sync.Mutex
	local map[string]entry
	locks map[string]*sync.Mutex
}

func (c *Cache) keyLock(key string) *sync.Mutex {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.locks[key]
	if !ok {
		l = new(sync.Mutex)
		c.locks[key] = l
	}
	return l
}

func (c *Cache) peek(ctx context.Context, key string) (entry, bool) {
	c.mu.Lock()
	e, ok := c.local[key]
	c.mu.Unlock()
	if ok && e.fresh() {
		return e, true
	}
	raw, err := c.rdb.Get(ctx, "cache:"+key).Bytes()
	if err != nil || json.Unmarshal(raw, &e) != nil || !e.fresh() {
		return entry{}, false
	}
	return e, true
}

func (c *Cache) Get(ctx context.Context, key string, load func(context.Context) (any, error)) (json.RawMessage, error) {
	if e, ok := c.peek(ctx, key); ok {
		return e.Value, nil
	}
	lock := c.keyLock(key)
	lock.Lock()
	defer lock.Unlock()
	if e, ok := c.peek(ctx, key); ok {
		return e.Value, nil
	}
	v, err := load(ctx)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", key, err)
	}
	val, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	e := entry{Value: val, Expires: time.Now().Add(c.ttl)}
	raw, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	err = c.rdb.Set(ctx, "cache:"+key, raw, c.ttl).Err()
	c.mu.Lock()
	c.local[key] = e
	c.mu.Unlock()
	return val, err
}
