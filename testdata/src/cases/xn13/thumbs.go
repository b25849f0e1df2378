package xn13

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// job lives as long as the transaction that locked its row.
type job struct {
	tx   *sql.Tx
	id   int64
	path string
}

// lock returns a job whose row is locked until done or fail ends the
// transaction; a worker that dies gives it back with its connection.
func lock(ctx context.Context, db *sql.DB) (*job, error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	j := &job{tx: tx}
	err = tx.QueryRowContext(ctx, `
		SELECT id, path FROM thumb_job WHERE state = 'new'
		ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`).Scan(&j.id, &j.path)
	if err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return j, nil
}

func (j *job) done(ctx context.Context) error {
	if _, err := j.tx.ExecContext(ctx, `UPDATE thumb_job SET state = 'done' WHERE id = $1`, j.id); err != nil {
		return errors.Join(err, j.tx.Rollback())
	}
	return j.tx.Commit()
}

func (j *job) fail(ctx context.Context, cause error) error {
	_, err := j.tx.ExecContext(ctx,
		`UPDATE thumb_job SET state = 'failed', error = $2 WHERE id = $1`, j.id, cause.Error())
	if err != nil {
		return errors.Join(err, j.tx.Rollback())
	}
	return j.tx.Commit()
}

type Worker struct {
	db     *sql.DB
	render func(ctx context.Context, path string) error
}

func (w *Worker) Once(ctx context.Context) (bool, error) {
	j, err := lock(ctx, w.db)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := w.render(ctx, j.path); err != nil {
		return true, j.fail(ctx, fmt.Errorf("render %s: %w", j.path, err))
	}
	return true, j.done(ctx)
}
