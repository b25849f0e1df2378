package uf30

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"example.com/corpus/cases/uf30/sqlgen"
)

const lockTable = "plan_locks"

var ErrTaken = errors.New("lock is taken")

// Locker is used by the command line tool; name is the workspace.
type Locker struct {
	db   *sql.DB
	st   sqlgen.Statements
	name string
	who  string
}

func NewLocker(db *sql.DB, name, who string) *Locker {
	return &Locker{db: db, st: sqlgen.MySQL{Table: lockTable}, name: name, who: who}
}

func (l *Locker) Lock(ctx context.Context) error {
	res, err := l.db.ExecContext(ctx, l.st.Take(), l.who, l.name)
	if err != nil {
		return fmt.Errorf("take %s: %w", l.name, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrTaken
	}
	return nil
}

// Keep refreshes the row until ctx ends, whoever holds it by then.
func (l *Locker) Keep(ctx context.Context, every time.Duration) error { // may:M|S
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			if _, err := l.db.ExecContext(ctx, l.st.Refresh(), l.name); err != nil { // want:W
				return fmt.Errorf("refresh %s: %w", l.name, err)
			}
		}
	}
}

func (l *Locker) Unlock(ctx context.Context) error {
	_, err := l.db.ExecContext(ctx, l.st.Free(), l.name) // want:W
	if err != nil {
		return fmt.Errorf("free %s: %w", l.name, err)
	}
	return nil
}
