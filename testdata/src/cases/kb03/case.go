// Package kb03 keeps replicas from running the same maintenance job twice.
package kb03

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"
)

type jobLock struct {
	ID            int64  `db:"id"`
	Name          string `db:"name"`
	Version       int64  `db:"version"`
	LastExecution int64  `db:"last_execution"` // unix seconds
}

type Cron struct {
	db *sqlx.DB
}

// Exclusive runs fn unless some replica ran it within the last interval.
func (c *Cron) Exclusive(ctx context.Context, name string, interval time.Duration, fn func(context.Context) error) error { // may:M
	l, err := c.load(ctx, name)
	if err != nil {
		return err
	}
	if l.LastExecution > 0 && time.Since(time.Unix(l.LastExecution, 0)) < interval { // want:T
		slog.Debug("job ran recently", "job", name)
		return nil
	}
	won, err := c.claim(ctx, l)
	if err != nil {
		return err
	}
	if !won {
		return nil
	}
	return fn(ctx)
}

func (c *Cron) claim(ctx context.Context, l *jobLock) (bool, error) {
	res, err := c.db.ExecContext(ctx, c.db.Rebind(
		`UPDATE job_lock SET version = version + 1, last_execution = ? WHERE id = ? AND version = ?`), // may:T
		time.Now().Unix(), l.ID, l.Version)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

func (c *Cron) load(ctx context.Context, name string) (*jobLock, error) {
	var l jobLock
	err := c.db.GetContext(ctx, &l, c.db.Rebind(`SELECT id, name, version, last_execution FROM job_lock WHERE name = ?`), name)
	if errors.Is(err, sql.ErrNoRows) {
		if _, err := c.db.ExecContext(ctx, c.db.Rebind(
			`INSERT INTO job_lock (name, version, last_execution) VALUES (?, 0, 0) ON CONFLICT (name) DO NOTHING`), name); err != nil {
			return nil, err
		}
		err = c.db.GetContext(ctx, &l, c.db.Rebind(`SELECT id, name, version, last_execution FROM job_lock WHERE name = ?`), name)
		return &l, err
	}
	return &l, err
}
