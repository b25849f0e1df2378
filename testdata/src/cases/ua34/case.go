// Package ua34 lets processes on one machine agree on who runs maintenance; the
// database is a SQLite file.
package ua34

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"time"
)

type Turn struct {
	db   *sql.DB
	proc string
	ttl  time.Duration
	now  func() time.Time
}

func NewTurn(ctx context.Context, db *sql.DB, ttl time.Duration) (*Turn, error) {
	_, err := db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS maintenance_turn (
		task TEXT PRIMARY KEY, proc TEXT NOT NULL, expires_ms INTEGER NOT NULL, ran INTEGER NOT NULL DEFAULT 0)`)
	if err != nil {
		return nil, err
	}
	return &Turn{db: db, proc: fmt.Sprintf("%d@%d", os.Getpid(), time.Now().UnixNano()), ttl: ttl, now: time.Now}, nil
}

// Take reports whether it is this process's turn to run a task.
func (t *Turn) Take(ctx context.Context, task string) (bool, error) {
	ms := t.now().UnixMilli()
	res, err := t.db.ExecContext(ctx, // want:T
		`INSERT INTO maintenance_turn (task, proc, expires_ms) VALUES (?1, ?2, ?3)
		 ON CONFLICT (task) DO UPDATE SET proc = excluded.proc, expires_ms = excluded.expires_ms
		 WHERE maintenance_turn.proc = excluded.proc OR maintenance_turn.expires_ms < ?4`,
		task, t.proc, ms+t.ttl.Milliseconds(), ms)
	if err != nil {
		return false, fmt.Errorf("take %s: %w", task, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return false, err
	}
	return n == 1, nil
}

// Give ends the turn early.
func (t *Turn) Give(ctx context.Context, task string) error {
	_, err := t.db.ExecContext(ctx,
		`UPDATE maintenance_turn SET expires_ms = 0, ran = ran + 1 WHERE task = ? AND proc = ?`, task, t.proc)
	return err
}
