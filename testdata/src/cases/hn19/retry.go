package hn19

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"
)

type memo struct {
	value   string
	expires time.Time
	owner   string
}

// Cache: local entries behind a mutex named lock, with retries and a deadline.
type Cache struct {
	lock     sync.Mutex
	byKey    map[string]memo
	db       *sql.DB
	attempts int
}

func (c *Cache) Get(ctx context.Context, key string) (string, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if m, ok := c.byKey[key]; ok && time.Now().Before(m.expires) {
		return m.value, nil
	}
	v, err := c.load(ctx, key)
	if err != nil {
		return "", err
	}
	c.byKey[key] = memo{value: v, expires: time.Now().Add(time.Minute), owner: key}
	_, err = c.db.ExecContext(ctx, `UPDATE settings SET read_count = read_count + 1 WHERE key = $1`, key)
	return v, err
}

func (c *Cache) load(ctx context.Context, key string) (v string, err error) {
	start := time.Now()
	deadline := start.Add(3 * time.Second)
	for attempt := 0; attempt < c.attempts; attempt++ {
		if time.Now().After(deadline) || time.Since(start) > 5*time.Second {
			return "", context.DeadlineExceeded
		}
		err = c.db.QueryRowContext(ctx, `SELECT value FROM settings WHERE key = $1`, key).Scan(&v)
		if err == nil || errors.Is(err, sql.ErrNoRows) {
			if attempt > 0 {
				_, _ = c.db.ExecContext(ctx, `UPDATE stats SET retries = retries + $1`, attempt)
			}
			return v, err
		}
	}
	return "", fmt.Errorf("after %d attempts: %w", c.attempts, err)
}
