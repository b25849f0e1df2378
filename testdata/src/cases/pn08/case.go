package pn08

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

var (
	ErrTaken = errors.New("lock is taken")
	ErrLost  = errors.New("lock was lost")
)

// TableLock keeps every instant in MySQL's own clock; this process contributes
// durations only.
type TableLock struct {
	db    *sql.DB
	name  string
	token string // new for every acquisition
	ttl   time.Duration
}

const (
	take = `
UPDATE app_lock SET holder = ?, until_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE name = ? AND (holder IS NULL OR until_at < UTC_TIMESTAMP(6))`
	drop = `
UPDATE app_lock SET holder = NULL WHERE name = ? AND holder = ?`
)

func one(res sql.Result, err error, none error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return none
	}
	return nil
}

// Lock polls until the lock is free or patience is over.
func (l *TableLock) Lock(ctx context.Context, patience time.Duration) error {
	start := time.Now()
	for {
		res, err := l.db.ExecContext(ctx, take, l.token, l.ttl.Microseconds(), l.name)
		if err = one(res, err, ErrTaken); !errors.Is(err, ErrTaken) {
			return err
		}
		if time.Since(start) > patience {
			return fmt.Errorf("gave up on %s after %s: %w", l.name, patience, ErrTaken)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(250 * time.Millisecond):
		}
	}
}

func (l *TableLock) Unlock(ctx context.Context) error {
	res, err := l.db.ExecContext(ctx, drop, l.name, l.token)
	return one(res, err, ErrLost)
}
