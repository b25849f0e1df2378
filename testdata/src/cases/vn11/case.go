package vn11

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"
)

// KeyedMutex and the cache live in this process only.
type KeyedMutex struct {
	mu sync.Mutex
	m  map[string]*sync.Mutex
}

func (k *KeyedMutex) Lock(key string) (unlock func()) {
	k.mu.Lock()
	if k.m == nil {
		k.m = map[string]*sync.Mutex{}
	}
	l, ok := k.m[key]
	if !ok {
		l = new(sync.Mutex)
		k.m[key] = l
	}
	k.mu.Unlock()
	l.Lock()
	return l.Unlock
}

type cached struct {
	balance int64
	expires time.Time
}

type Wallets struct {
	db    *sql.DB
	locks KeyedMutex
	mu    sync.RWMutex
	cache map[string]cached
	ttl   time.Duration
	open  map[string]time.Time // circuit breaker per account
}

var ErrFunds = errors.New("insufficient funds")

func (w *Wallets) Balance(ctx context.Context, account string) (int64, error) {
	w.mu.RLock()
	c, ok := w.cache[account]
	w.mu.RUnlock()
	if ok && time.Now().Before(c.expires) {
		return c.balance, nil
	}
	var n int64
	if err := w.db.QueryRowContext(ctx, `SELECT balance FROM wallet WHERE account = ?`, account).Scan(&n); err != nil {
		return 0, err
	}
	w.mu.Lock()
	w.cache[account] = cached{n, time.Now().Add(w.ttl)}
	w.mu.Unlock()
	return n, nil
}

func (w *Wallets) Spend(ctx context.Context, account string, cents int64) error {
	unlock := w.locks.Lock(account)
	defer unlock()
	w.mu.RLock()
	until, tripped := w.open[account]
	w.mu.RUnlock()
	if tripped && time.Now().Before(until) {
		return fmt.Errorf("account %s is paused", account)
	}
	b, err := w.Balance(ctx, account)
	if err != nil {
		return err
	}
	if b < cents {
		return ErrFunds
	}
	_, err = w.db.ExecContext(ctx, `UPDATE wallet SET balance = balance - ? WHERE account = ?`, cents, account)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.cache, account)
	if err != nil {
		w.open[account] = time.Now().Add(10 * time.Second)
	}
	return err
}
