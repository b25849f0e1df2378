// Package un05 limits the rate of API clients and caches their plans.
package un05

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

var ErrTooMany = errors.New("rate limit exceeded")

type plan struct {
	Name      string    `json:"name"`
	PerMinute int64     `json:"per_minute"`
	Expires   time.Time `json:"expires"`
}

type Limiter struct {
	rdb  redis.UniversalClient
	load func(ctx context.Context, client string) (name string, perMinute int64, err error)

	mu    sync.RWMutex
	plans map[string]plan
}

// plan looks in the process, then in Redis, then in the database.
func (l *Limiter) plan(ctx context.Context, client string) (plan, error) {
	now := time.Now()
	l.mu.RLock()
	p, ok := l.plans[client]
	l.mu.RUnlock()
	if ok && now.Before(p.Expires) {
		return p, nil
	}
	key := "plan:" + client
	raw, err := l.rdb.Get(ctx, key).Bytes()
	if err == nil && json.Unmarshal(raw, &p) == nil && now.Before(p.Expires) {
		l.remember(client, p)
		return p, nil
	}
	name, n, err := l.load(ctx, client)
	if err != nil {
		return plan{}, fmt.Errorf("plan of %s: %w", client, err)
	}
	p = plan{Name: name, PerMinute: n, Expires: now.Add(5 * time.Minute)}
	if raw, err := json.Marshal(p); err == nil {
		_ = l.rdb.Set(ctx, key, raw, 5*time.Minute).Err()
	}
	l.remember(client, p)
	return p, nil
}

func (l *Limiter) remember(client string, p plan) {
	l.mu.Lock()
	l.plans[client] = p
	l.mu.Unlock()
}

// Allow counts one request in the current minute.
func (l *Limiter) Allow(ctx context.Context, client string) error {
	p, err := l.plan(ctx, client)
	if err != nil {
		return err
	}
	window := time.Now().Truncate(time.Minute)
	key := fmt.Sprintf("rate:%s:%d", client, window.Unix())
	n, err := l.rdb.Incr(ctx, key).Result()
	if err != nil {
		return err
	}
	if n == 1 {
		if err := l.rdb.Expire(ctx, key, 2*time.Minute).Err(); err != nil {
			return err
		}
	}
	if n > p.PerMinute {
		return ErrTooMany
	}
	return nil
}
