// Package runner executes builds while its session is the current one.
package runner

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrSession = errors.New("runner has been registered again")

type Runner struct {
	pool    *pgxpool.Pool
	name    string
	session int64
}

func (r *Runner) SetStatus(ctx context.Context, build int64, status string) error {
	tx, err := r.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if err := r.current(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx,
		`UPDATE ci_build SET status = $2, runner = $3 WHERE id = $1`, build, status, r.name); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

func (r *Runner) current(ctx context.Context, tx pgx.Tx) error {
	var n int
	err := tx.QueryRow(ctx,
		`SELECT 1 FROM ci_runner WHERE name = $1 AND session = $2 FOR SHARE`, r.name, r.session).Scan(&n)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrSession
	}
	return err
}
