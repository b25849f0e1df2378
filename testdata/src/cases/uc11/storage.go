package uc11

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Storage keeps ACME accounts, keys and certificates in PostgreSQL, with a
// lock table so that one instance at a time solves challenges for a name.
type Storage struct {
	db      *sql.DB
	query   time.Duration
	timeout time.Duration
}

var ErrTimeout = errors.New("gave up waiting for the certificate lock")

type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func (s *Storage) isLocked(ctx context.Context, q queryer, key string) error {
	var held bool
	row := q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM acme_locks WHERE key = $1 AND expires > CURRENT_TIMESTAMP)`, key)
	if err := row.Scan(&held); err != nil {
		return err
	}
	if held {
		return fmt.Errorf("key is locked: %s", key)
	}
	return nil
}

// Lock looks for a live row and then writes one; under READ COMMITTED two
// instances pass the look at the same time and the second overwrites.
func (s *Storage) Lock(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, s.query)
	defer cancel()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := s.isLocked(ctx, tx, key); err != nil {
		return err
	}
	expires := time.Now().Add(s.timeout)                                                                                                                               // may:T
	if _, err := tx.ExecContext(ctx, `INSERT INTO acme_locks (key, expires) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET expires = $2`, key, expires); err != nil { // want:C // may:T
		return fmt.Errorf("lock %s: %w", key, err)
	}
	return tx.Commit()
}

func (s *Storage) Unlock(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, s.query)
	defer cancel()
	_, err := s.db.ExecContext(ctx, `DELETE FROM acme_locks WHERE key = $1`, key) // may:C
	return err
}

func (s *Storage) Store(ctx context.Context, key string, value []byte) error {
	_, err := s.db.ExecContext(ctx, `
		INSERT INTO acme_data (key, value) VALUES ($1, $2)
		ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, modified = CURRENT_TIMESTAMP`, key, value)
	return err
}

func (s *Storage) Load(ctx context.Context, key string) ([]byte, error) {
	var v []byte
	err := s.db.QueryRowContext(ctx, `SELECT value FROM acme_data WHERE key = $1`, key).Scan(&v)
	return v, err
}
