package vn10

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

// Reminders are sent to the app's inbox table when their time has come. The
// row stays locked until the transaction ends, so replicas share the work.
type Reminders struct {
	db *sqlx.DB
}

type reminder struct {
	ID      int64     `db:"id"`
	Account int64     `db:"account_id"`
	Text    string    `db:"body"`
	RunAt   time.Time `db:"run_at"`
	Every   string    `db:"every"`
}

func (r *Reminders) next(ctx context.Context) (done bool, err error) {
	tx, err := r.db.BeginTxx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }()
	var m reminder
	err = tx.GetContext(ctx, &m,
		`SELECT id, account_id, body, run_at, every FROM reminder WHERE run_at <= $1 ORDER BY run_at LIMIT 1 FOR UPDATE SKIP LOCKED`, time.Now())
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO inbox (account_id, body) VALUES ($1, $2)`, m.Account, m.Text); err != nil {
		return false, err
	}
	d, err := time.ParseDuration(m.Every)
	if err != nil {
		if _, err := tx.ExecContext(ctx, `DELETE FROM reminder WHERE id = $1`, m.ID); err != nil {
			return false, err
		}
		return false, tx.Commit()
	}
	at := m.RunAt
	for !at.After(time.Now()) {
		at = at.Add(d)
	}
	if _, err := tx.ExecContext(ctx, `UPDATE reminder SET run_at = $2 WHERE id = $1`, m.ID, at); err != nil {
		return false, err
	}
	return false, tx.Commit()
}

func (r *Reminders) Run(ctx context.Context) error {
	for {
		done, err := r.next(ctx)
		if err != nil {
			return fmt.Errorf("reminder: %w", err)
		}
		if !done {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(15 * time.Second):
		}
	}
}
