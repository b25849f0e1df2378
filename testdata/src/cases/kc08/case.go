// Package kc08 applies data fixes; lock and statements share one connection.
package kc08

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
)

const fixLock = 0x6669786572

var ErrRunning = errors.New("fixes are being applied by another instance")

type Fix struct {
	Version int64
	SQL     string
}

type Runner struct {
	pool *pgxpool.Pool
}

// Apply holds a session lock on a dedicated connection: if the session goes,
// the lock and the statements go with it.
func (r *Runner) Apply(ctx context.Context, fixes []Fix) (err error) {
	conn, err := r.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()

	var ok bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, fixLock).Scan(&ok); err != nil {
		return err
	}
	if !ok {
		return ErrRunning
	}
	defer func() {
		_, uerr := conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, fixLock)
		err = errors.Join(err, uerr)
	}()

	var current int64
	if err := conn.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM applied_fixes`).Scan(&current); err != nil {
		return err
	}
	for _, f := range fixes {
		if f.Version <= current {
			continue
		}
		if _, err := conn.Exec(ctx, f.SQL); err != nil {
			return fmt.Errorf("fix %d: %w", f.Version, err)
		}
		if _, err := conn.Exec(ctx, `INSERT INTO applied_fixes (version) VALUES ($1)`, f.Version); err != nil {
			return err
		}
	}
	return nil
}
