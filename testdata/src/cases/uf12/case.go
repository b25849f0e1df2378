package uf12

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"
)

var ErrTimeout = errors.New("could not acquire change log lock")

// changeLock is the one-row lock table known from schema migration tools.
type changeLock struct {
	db   *sql.DB
	host string
}

func newChangeLock(db *sql.DB) (*changeLock, error) {
	h, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &changeLock{db: db, host: fmt.Sprintf("%s (%d)", h, os.Getpid())}, nil
}

func (l *changeLock) acquire(ctx context.Context) (bool, error) {
	var locked bool
	err := l.db.QueryRowContext(ctx, "SELECT locked FROM change_log_lock WHERE id = 1").Scan(&locked)
	if err != nil {
		return false, fmt.Errorf("read lock: %w", err)
	}
	if locked {
		return false, nil
	}
	_, err = l.db.ExecContext(ctx, // want:C|W
		"UPDATE change_log_lock SET locked = TRUE, locked_by = ?, lock_granted = CURRENT_TIMESTAMP WHERE id = 1", l.host)
	if err != nil {
		return false, fmt.Errorf("take lock: %w", err)
	}
	return true, nil
}

func (l *changeLock) Wait(ctx context.Context, limit time.Duration) error {
	start := time.Now()
	for time.Since(start) < limit {
		ok, err := l.acquire(ctx)
		if err != nil || ok {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Second):
		}
	}
	return ErrTimeout
}

// Release clears the row even when an operator gave the lock to somebody else.
func (l *changeLock) Release(ctx context.Context) error {
	_, err := l.db.ExecContext(ctx, // want:C|W
		"UPDATE change_log_lock SET locked = FALSE, locked_by = NULL, lock_granted = NULL WHERE id = 1")
	if err != nil {
		return fmt.Errorf("release lock: %w", err)
	}
	return nil
}
