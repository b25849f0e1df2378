package ue26

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

// lockRow is a row of controller_lock.
type lockRow struct {
	Name     string       `db:"name"`
	HeldBy   string       `db:"held_by"`
	HeldTill sql.NullTime `db:"held_till"`
	Version  int64        `db:"version"`
}

func (r lockRow) freeFor(who string, now time.Time) bool {
	if r.HeldBy == "" || r.HeldBy == who {
		return true
	}
	return !r.HeldTill.Valid || r.HeldTill.Time.Before(now) // want:T
}

var (
	ErrBusy = errors.New("lock is busy")
	ErrRace = errors.New("lock row changed meanwhile")
)

type Locks struct {
	db  *sqlx.DB
	who string
	now func() time.Time
}

func NewLocks(db *sqlx.DB, who string) *Locks { return &Locks{db: db, who: who, now: time.Now} }

// Acquire returns the version under which the lock is held.
func (l *Locks) Acquire(ctx context.Context, name string, d time.Duration) (int64, error) {
	var row lockRow
	err := l.db.GetContext(ctx, &row, `SELECT name, held_by, held_till, version FROM controller_lock WHERE name = $1`, name)
	if err != nil {
		return 0, fmt.Errorf("lock %s: %w", name, err)
	}
	now := l.now()
	if !row.freeFor(l.who, now) { // may:T
		return 0, ErrBusy
	}
	res, err := l.db.ExecContext(ctx, // may:T
		`UPDATE controller_lock SET held_by = $1, held_till = $2, version = version + 1 WHERE name = $3 AND version = $4`,
		l.who, now.Add(d), name, row.Version)
	if err != nil {
		return 0, err
	}
	if n, err := res.RowsAffected(); err != nil {
		return 0, err
	} else if n != 1 {
		return 0, ErrRace
	}
	return row.Version + 1, nil
}
