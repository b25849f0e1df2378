// Package un09 merges partitions under a session lock; every statement runs on
// the session that has the lock.
package un09

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type Merger struct {
	pool *pgxpool.Pool
	key  int64
}

type part struct {
	Name string
	Rows int64
}

// Merge reports false if another process is at it.
func (m *Merger) Merge(ctx context.Context) (ran bool, err error) {
	conn, err := m.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Release()

	var ok bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, m.key).Scan(&ok); err != nil {
		return false, fmt.Errorf("merge: %w", err)
	}
	if !ok {
		return false, nil
	}
	defer func() {
		_, uerr := conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, m.key)
		err = errors.Join(err, uerr)
	}()

	rows, err := conn.Query(ctx, `SELECT name, row_count FROM part_catalog WHERE state = 'small' ORDER BY name`)
	if err != nil {
		return true, err
	}
	parts, err := pgx.CollectRows(rows, pgx.RowToStructByPos[part])
	if err != nil {
		return true, err
	}
	for _, p := range parts {
		if err := m.mergeOne(ctx, conn, p); err != nil {
			return true, fmt.Errorf("part %s: %w", p.Name, err)
		}
	}
	return true, nil
}

func (m *Merger) mergeOne(ctx context.Context, conn *pgxpool.Conn, p part) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, `UPDATE part_total SET row_count = row_count + $1`, p.Rows); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE part_catalog SET state = 'merged' WHERE name = $1`, p.Name); err != nil {
		return err
	}
	return tx.Commit(ctx)
}
