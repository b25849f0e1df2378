// Package ua21 migrates a schema. Several replicas start at the same moment.
package ua21

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	sq "github.com/Masterminds/squirrel"
)

var (
	ErrLocked = errors.New("another migration is in progress")
	pg        = sq.StatementBuilder.PlaceholderFormat(sq.Dollar)
)

const lockTable = "migration_lock"

type Migrator struct {
	db      *sql.DB
	scripts []Script
}

type Script struct {
	Version int
	Up      func(context.Context, *sql.Tx) error
}

func (m *Migrator) tryLock(ctx context.Context) error {
	var n int
	err := pg.Select("count(*)").From(lockTable).RunWith(m.db).QueryRowContext(ctx).Scan(&n)
	if err != nil {
		return err
	}
	if n > 0 {
		return ErrLocked
	}
	host, _ := os.Hostname()
	_, err = pg.Insert(lockTable).Columns("holder", "pid").Values(host, os.Getpid()).RunWith(m.db).ExecContext(ctx) // want:C
	return err
}

func (m *Migrator) lock(ctx context.Context, patience time.Duration) error {
	start := time.Now()
	for {
		err := m.tryLock(ctx)
		if !errors.Is(err, ErrLocked) || time.Since(start) > patience {
			return err
		}
		time.Sleep(500 * time.Millisecond)
	}
}

func (m *Migrator) unlock(ctx context.Context) error {
	_, err := pg.Delete(lockTable).RunWith(m.db).ExecContext(ctx) // may:C
	return err
}

// Up runs what has not run yet.
func (m *Migrator) Up(ctx context.Context) (err error) {
	if err := m.lock(ctx, time.Minute); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer func() { err = errors.Join(err, m.unlock(context.WithoutCancel(ctx))) }() // may:C

	for _, s := range m.scripts {
		if err := m.apply(ctx, s); err != nil { // may:C
			return fmt.Errorf("version %d: %w", s.Version, err)
		}
	}
	return nil
}

func (m *Migrator) apply(ctx context.Context, s Script) error {
	tx, err := m.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var seen bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM applied_script WHERE version = $1)`, s.Version).Scan(&seen); err != nil || seen {
		return err
	}
	if err := s.Up(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO applied_script (version) VALUES ($1)`, s.Version); err != nil { // may:C
		return err
	}
	return tx.Commit()
}
