package ht17

import (
	"context"
	"database/sql"
	"time"
)

type lockRow struct {
	owner   string
	expires sql.NullTime
}

type SQLLock struct {
	db    *sql.DB
	owner string
	clock func() time.Time
}

func (r lockRow) free(now time.Time) bool {
	if !r.expires.Valid {
		return true
	}
	return now.Sub(r.expires.Time) > 0 // want:T
}

func (l *SQLLock) Try(ctx context.Context, name string) (bool, error) {
	var r lockRow
	if err := l.db.QueryRowContext(ctx, `SELECT owner, expires FROM locks WHERE name = ?`, name).Scan(&r.owner, &r.expires); err != nil {
		return false, err
	}
	now := l.clock()
	if r.owner != l.owner && !r.free(now) { // may:T
		return false, nil
	}
	res, err := l.db.ExecContext(ctx, `UPDATE locks SET owner = ?, expires = ? WHERE name = ? AND owner = ?`, l.owner, now.Add(time.Minute), name, r.owner)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}
