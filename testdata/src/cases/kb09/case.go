// Package kb09 has named locks in MySQL for the workers of a shop.
package kb09

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

var ErrLocked = errors.New("locked")

type NamedLocks struct {
	db   *sql.DB
	node string
}

// Acquire takes the lock if it is free or has expired.
func (l *NamedLocks) Acquire(ctx context.Context, name string, ttl time.Duration) error {
	now := time.Now().UTC()
	if _, err := l.db.ExecContext(ctx,
		`INSERT IGNORE INTO named_locks (name, owner, expires_at) VALUES (?, '', ?)`, name, time.Unix(0, 0)); err != nil {
		return err
	}
	res, err := l.db.ExecContext(ctx, // want:T
		`UPDATE named_locks SET owner = ?, expires_at = ? WHERE name = ? AND (owner = '' OR expires_at < ?)`,
		l.node, now.Add(ttl), name, now)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n != 1 {
		return ErrLocked
	}
	return nil
}

func (l *NamedLocks) Release(ctx context.Context, name string) error {
	_, err := l.db.ExecContext(ctx,
		`UPDATE named_locks SET owner = '' WHERE name = ? AND owner = ?`, name, l.node)
	return err
}

// Sweep removes what nobody has released.
func (l *NamedLocks) Sweep(ctx context.Context) (int64, error) {
	const q = `DELETE FROM named_locks WHERE expires_at <= ?`
	res, err := l.db.ExecContext(ctx, q, time.Now()) // want:T
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}
