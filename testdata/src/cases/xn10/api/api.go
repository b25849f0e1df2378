// Package api takes builds from web hooks; it is no runner.
package api

import (
	"context"
	"database/sql"
)

type Builds struct{ DB *sql.DB }

func (b *Builds) Enqueue(ctx context.Context, repo, sha string) (id int64, err error) {
	err = b.DB.QueryRowContext(ctx,
		`INSERT INTO ci_build (repo, commit_sha) VALUES ($1, $2) RETURNING id`, repo, sha).Scan(&id)
	return id, err
}

// Cancel asks the runner to stop.
func (b *Builds) Cancel(ctx context.Context, id int64) error {
	_, err := b.DB.ExecContext(ctx, `UPDATE ci_build SET cancel_requested = true WHERE id = $1`, id)
	return err
}
