package hc28

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
)

var ErrExists = errors.New("lock exists")

type Locks struct {
	db *sql.DB
	me string
}

func New(db *sql.DB) *Locks {
	h, _ := os.Hostname()
	return &Locks{db: db, me: fmt.Sprint(h, "-", os.Getpid())}
}

// Take counts rows and inserts one: two processes can both count zero.
func (l *Locks) Take(ctx context.Context, name string) error {
	var n int
	if err := l.db.QueryRowContext(ctx, `SELECT count(*) FROM job_locks WHERE name = ?`, name).Scan(&n); err != nil {
		return err
	}
	if n > 0 {
		return ErrExists
	}
	_, err := l.db.ExecContext(ctx, `INSERT INTO job_locks (name, owner) VALUES (?, ?)`, name, l.me) // want:C
	return err
}

func (l *Locks) Drop(ctx context.Context, name string) error {
	_, err := l.db.ExecContext(ctx, `DELETE FROM job_locks WHERE name = ? AND owner = ?`, name, l.me)
	return err
}
