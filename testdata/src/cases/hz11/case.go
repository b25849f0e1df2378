// Package hz11 is an in-process cache in front of a settings table.
package hz11

import (
	"context"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
)

type entry[V any] struct {
	value     V
	expiresAt time.Time
	refreshBy string // name of the goroutine that reloads the entry
}

type Cache[V any] struct {
	mu    sync.Mutex
	items map[string]entry[V]
	ttl   time.Duration
}

func New[V any](ttl time.Duration) *Cache[V] {
	c := &Cache[V]{items: map[string]entry[V]{}, ttl: ttl}
	return c
}

func (c *Cache[V]) Get(key string) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[key]
	if !ok || time.Now().After(e.expiresAt) {
		delete(c.items, key)
		return v, false
	}
	return e.value, true
}

func (c *Cache[V]) Put(key, by string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items[key] = entry[V]{value: v, expiresAt: time.Now().UTC().Add(c.ttl), refreshBy: by}
}

func (c *Cache[V]) evict(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, e := range c.items {
		if e.expiresAt.Before(now) {
			delete(c.items, k)
		}
	}
}

type Setting struct {
	Name  string `db:"name"`
	Value string `db:"value"`
}

type Settings struct {
	db    *sqlx.DB
	cache *Cache[string]
	mu    sync.Mutex // one writer in this process
}

func (s *Settings) Lookup(ctx context.Context, name string) (string, error) {
	if v, ok := s.cache.Get(name); ok {
		return v, nil
	}
	var row Setting
	if err := s.db.GetContext(ctx, &row, `SELECT name, value FROM settings WHERE name = ?`, name); err != nil {
		return "", err
	}
	s.cache.Put(name, "lookup", row.Value)
	return row.Value, nil
}

func (s *Settings) Store(ctx context.Context, name, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	cur, err := s.Lookup(ctx, name)
	if err == nil && cur == value {
		return nil
	}
	_, err = s.db.NamedExecContext(ctx, `REPLACE INTO settings (name, value) VALUES (:name, :value)`, Setting{name, value})
	if err == nil {
		s.cache.Put(name, "store", value)
	}
	return err
}
