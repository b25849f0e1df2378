package ht14

import (
	"context"
	"database/sql"
	"time"
)

// leader(id, node, last_seen) has one row.
type Leadership struct {
	db   *sql.DB
	node string
}

func (l *Leadership) Try(ctx context.Context) (bool, error) {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	var node string
	var seen time.Time
	if err := tx.QueryRowContext(ctx, `SELECT node, last_seen FROM leader WHERE id = 1 FOR UPDATE`).Scan(&node, &seen); err != nil {
		return false, err
	}
	switch {
	case node == l.node:
	case seen.Add(20 * time.Second).After(time.Now()): // want:T
		return false, nil
	}
	if _, err := tx.ExecContext(ctx, `UPDATE leader SET node = ?, last_seen = ? WHERE id = 1`, l.node, time.Now()); err != nil {
		return false, err
	}
	return true, tx.Commit()
}
