package hy07

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

type lockRow struct {
	Name      string    `db:"name"`
	Owner     string    `db:"owner"`
	ExpiresAt time.Time `db:"expires_at"`
	Now       time.Time `db:"now"`
}

// MySQLLocker implements named locks on a table `app_locks` (prefix differs
// between installations).
type MySQLLocker struct {
	db     *sqlx.DB
	prefix string
	owner  string
}

func (l *MySQLLocker) table() string { return l.prefix + "app_locks" }

func (l *MySQLLocker) ensure(ctx context.Context, name string) error {
	_, err := l.db.ExecContext(ctx, fmt.Sprintf(
		"INSERT IGNORE INTO %s (name, owner, expires_at) VALUES (?, '', '1970-01-02')", l.table()), name)
	return err
}

func (l *MySQLLocker) TryLock(ctx context.Context, name string, ttl time.Duration) (bool, error) { // may:M
	if err := l.ensure(ctx, name); err != nil {
		return false, err
	}
	now := time.Now().UTC()
	q := fmt.Sprintf(`UPDATE %s SET owner = :owner, expires_at = :expires_at
		WHERE name = :name AND (owner = '' OR owner = :owner OR expires_at < :now)`, l.table())
	res, err := l.db.NamedExecContext(ctx, q, lockRow{ // want:T
		Name:      name,
		Owner:     l.owner,
		ExpiresAt: now.Add(ttl),
		Now:       now,
	})
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", name, err)
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

func (l *MySQLLocker) Unlock(ctx context.Context, name string) error {
	q := fmt.Sprintf("UPDATE %s SET owner = '' WHERE name = ? AND owner = ?", l.table())
	_, err := l.db.ExecContext(ctx, q, name, l.owner)
	return err
}
