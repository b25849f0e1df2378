package uv09

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

// The change log lock is one row; every node that starts up wants it.
const lockTable = "changelog_lock"

var ErrHeld = errors.New("change log lock is held")

type Lock struct {
	db   *sqlx.DB
	node string
}

func New(db *sqlx.DB, node string) *Lock { return &Lock{db: db, node: node} }

func (l *Lock) Wait(ctx context.Context, every time.Duration) error {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		err := l.acquire(ctx)
		if !errors.Is(err, ErrHeld) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	}
}

func (l *Lock) acquire(ctx context.Context) error {
	res, err := l.db.ExecContext(ctx,
		"UPDATE "+lockTable+" SET locked = 1, holder = ?, granted_at = UTC_TIMESTAMP() "+
			"WHERE id = 1 AND (locked = 0 OR beat_at < UTC_TIMESTAMP() - INTERVAL 5 MINUTE)", l.node)
	return affected(res, err)
}

func affected(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		return ErrHeld
	}
	return err
}

// Beat and Release name the row, not the holder.
func (l *Lock) Beat(ctx context.Context) error {
	q := fmt.Sprintf("UPDATE %s SET beat_at = UTC_TIMESTAMP() WHERE id = ?", lockTable)
	_, err := l.db.ExecContext(ctx, q, 1) // want:W
	return err
}

func (l *Lock) Release(ctx context.Context) error {
	q := fmt.Sprintf("UPDATE %s SET locked = 0, holder = NULL, granted_at = NULL WHERE id = ?", lockTable)
	_, err := l.db.ExecContext(ctx, q, 1) // want:W
	return err
}
