package vn14

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strings"
)

// Migrator holds a session lock and works on the very connection that has it:
// if that connection breaks, lock and statements are gone together.
type Migrator struct {
	db    *sql.DB
	files fs.FS
}

const lockID = 0x6d696772

func (m *Migrator) Up(ctx context.Context) (err error) {
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, lockID); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	defer func() {
		_, uerr := conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, lockID)
		err = errors.Join(err, uerr)
	}()

	var at string
	err = conn.QueryRowContext(ctx, `SELECT coalesce(max(name), '') FROM applied_migration`).Scan(&at)
	if err != nil {
		return err
	}
	names, err := fs.Glob(m.files, "*.sql")
	if err != nil {
		return err
	}
	sort.Strings(names)
	for _, n := range names {
		if strings.Compare(n, at) <= 0 {
			continue
		}
		if err := m.apply(ctx, conn, n); err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
	}
	return nil
}

func (m *Migrator) apply(ctx context.Context, conn *sql.Conn, name string) error {
	text, err := fs.ReadFile(m.files, name)
	if err != nil {
		return err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, string(text)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO applied_migration (name, applied_at) VALUES ($1, now())`, name); err != nil {
		return err
	}
	return tx.Commit()
}
