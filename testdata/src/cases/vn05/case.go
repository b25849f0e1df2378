package vn05

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Worker claims thumbnails. Each claim increments the attempt, each later
// statement names it, and every time in SQL is the database's.
type Worker struct {
	db   *sql.DB
	make func(ctx context.Context, src string) ([]byte, error)
}

type job struct {
	id, attempt int64
	src         string
}

var ErrStale = errors.New("job has been handed to another worker")

func (w *Worker) claim(ctx context.Context) (*job, error) {
	var j job
	err := w.db.QueryRowContext(ctx, `
		UPDATE thumb_job SET attempt = attempt + 1, leased_until = now() + interval '1 minute'
		WHERE id = (SELECT id FROM thumb_job
			WHERE state = 'open' AND (leased_until IS NULL OR leased_until < now())
			ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1)
		RETURNING id, attempt, src`).Scan(&j.id, &j.attempt, &j.src)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &j, err
}

func (w *Worker) exec(ctx context.Context, q string, args ...any) error {
	res, err := w.db.ExecContext(ctx, q, args...)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrStale
	}
	return nil
}

func (w *Worker) done(ctx context.Context, j *job, img []byte) error {
	return w.exec(ctx, `
		UPDATE thumb_job SET state = 'done', image = $3, leased_until = NULL
		WHERE id = $1 AND attempt = $2 AND state = 'open'`, j.id, j.attempt, img)
}

func (w *Worker) failed(ctx context.Context, j *job, cause error) error {
	return w.exec(ctx, `
		UPDATE thumb_job SET last_error = $3, leased_until = now() + interval '10 seconds'
		WHERE id = $1 AND attempt = $2`, j.id, j.attempt, cause.Error())
}

func (w *Worker) Step(ctx context.Context) (bool, error) {
	j, err := w.claim(ctx)
	if err != nil || j == nil {
		return false, err
	}
	img, err := w.make(ctx, j.src)
	if err != nil {
		return true, w.failed(ctx, j, err)
	}
	if err := w.done(ctx, j, img); err != nil {
		return true, fmt.Errorf("job %d: %w", j.id, err)
	}
	return true, nil
}
