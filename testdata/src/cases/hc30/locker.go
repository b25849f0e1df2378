// Package hc30 hides the lock behind an interface of its own.
package hc30

import (
	"context"
	"database/sql"
	"time"

	"github.com/go-redsync/redsync/v4"
)

type Locker interface {
	TryLock(ctx context.Context, name string) (release func(), ok bool, err error)
}

type redLocker struct{ rs *redsync.Redsync }

func (r redLocker) TryLock(ctx context.Context, name string) (func(), bool, error) {
	m := r.rs.NewMutex(name, redsync.WithExpiry(time.Minute), redsync.WithTries(1))
	if err := m.TryLockContext(ctx); err != nil {
		return nil, false, nil
	}
	return func() { _, _ = m.UnlockContext(ctx) }, true, nil
}

type Closer struct {
	locks Locker
	db    *sql.DB
}

func NewCloser(rs *redsync.Redsync, db *sql.DB) *Closer { return &Closer{redLocker{rs}, db} }

func (c *Closer) CloseMonth(ctx context.Context, month string) error {
	unlock, ok, err := c.locks.TryLock(ctx, "close:"+month)
	if err != nil {
		return err
	}
	if !ok {
		return nil
	}
	defer unlock()
	_, err = c.db.ExecContext(ctx, `UPDATE periods SET closed = true, total = (SELECT sum(x) FROM entries WHERE month = $1) WHERE month = $1`, month) // want:C
	return err
}
