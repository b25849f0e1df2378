package ue17

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

var ErrNotAcquired = errors.New("lock is held")

// Store hands out named locks from a SQLite file on shared storage.
type Store struct {
	db    *sql.DB
	owner string
	lease time.Duration
}

const takeOver = `
UPDATE named_locks
SET owner = ?, expires_at = ?
WHERE name = ? AND (owner = ? OR expires_at <= ?)`

func (s *Store) ensure(ctx context.Context, name string) error {
	_, err := s.db.ExecContext(ctx,
		`INSERT INTO named_locks (name, owner, expires_at) VALUES (?, '', 0) ON CONFLICT (name) DO NOTHING`, name)
	return err
}

// Acquire takes or extends the lock.
func (s *Store) Acquire(ctx context.Context, name string) error {
	if err := s.ensure(ctx, name); err != nil {
		return fmt.Errorf("ensure %s: %w", name, err)
	}
	now := time.Now().Unix()
	until := now + int64(s.lease/time.Second)
	res, err := s.db.ExecContext(ctx, takeOver, s.owner, until, name, s.owner, now) // want:T
	if err != nil {
		return fmt.Errorf("acquire %s: %w", name, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrNotAcquired
	}
	return nil
}

// Release frees the lock if this owner has it.
func (s *Store) Release(ctx context.Context, name string) error {
	res, err := s.db.ExecContext(ctx,
		`UPDATE named_locks SET owner = '', expires_at = 0 WHERE name = ? AND owner = ?`, name, s.owner)
	if err != nil {
		return fmt.Errorf("release %s: %w", name, err)
	}
	if n, err := res.RowsAffected(); err != nil {
		return err
	} else if n == 0 {
		return ErrNotAcquired
	}
	return nil
}
