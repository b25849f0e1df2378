package ub26

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// Locker serialises maintenance tasks of several hosts in one SQLite (rqlite)
// database.
type Locker struct {
	db *sqlx.DB
}

var ErrLocked = errors.New("task is locked")

type lockRow struct {
	Task      string `db:"task"`
	Nonce     string `db:"nonce"`
	ExpiresAt int64  `db:"expires_at"`
}

// Lock drops locks that ran out, then inserts its own row if there is none.
func (l *Locker) Lock(ctx context.Context, task string, ttl time.Duration) (string, error) {
	row := lockRow{Task: task, Nonce: uuid.NewString(), ExpiresAt: time.Now().Add(ttl).Unix()}                            // may:T
	_, err := l.db.ExecContext(ctx, `DELETE FROM task_locks WHERE task = ? AND expires_at <= ?`, task, time.Now().Unix()) // want:T
	if err != nil {
		return "", err
	}
	res, err := l.db.NamedExecContext(ctx, `
		INSERT INTO task_locks (task, nonce, expires_at) VALUES (:task, :nonce, :expires_at)
		ON CONFLICT (task) DO NOTHING`, row)
	if err != nil {
		return "", err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return "", err
	}
	if n == 0 {
		return "", ErrLocked
	}
	return row.Nonce, nil
}

func (l *Locker) Unlock(ctx context.Context, task, nonce string) error {
	_, err := l.db.ExecContext(ctx, `DELETE FROM task_locks WHERE task = ? AND nonce = ?`, task, nonce)
	return err
}
