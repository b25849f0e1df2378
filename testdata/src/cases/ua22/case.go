// Package ua22 transcodes uploads.
package ua22

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrGone = errors.New("task was given to another worker")

type task struct {
	ID          int64
	Source      string
	LockedBy    *string
	LockedUntil *time.Time
	Version     int64
}

type Worker struct {
	pool *pgxpool.Pool
	name string
	run  func(context.Context, string) (string, error)
}

func (w *Worker) candidates(ctx context.Context) ([]task, error) {
	rows, err := w.pool.Query(ctx, `
		SELECT id, source, locked_by, locked_until, version FROM transcode_task
		WHERE state = 'pending' ORDER BY priority DESC, id LIMIT 20`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[task])
}

// next takes the first task that nobody is busy with.
func (w *Worker) next(ctx context.Context) (*task, error) {
	list, err := w.candidates(ctx)
	if err != nil {
		return nil, err
	}
	for i := range list {
		t := &list[i]
		if t.LockedUntil != nil && t.LockedUntil.After(time.Now()) { // want:T
			continue
		}
		tag, err := w.pool.Exec(ctx, `
			UPDATE transcode_task
			   SET locked_by = $2, locked_until = now() + interval '15 minutes', version = version + 1
			 WHERE id = $1 AND version = $3`, t.ID, w.name, t.Version)
		if err != nil {
			return nil, fmt.Errorf("take %d: %w", t.ID, err)
		}
		if tag.RowsAffected() == 1 {
			t.Version++
			return t, nil
		}
	}
	return nil, nil
}

// Work handles one task; it reports false if there was none.
func (w *Worker) Work(ctx context.Context) (bool, error) {
	t, err := w.next(ctx)
	if err != nil || t == nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	out, err := w.run(ctx, t.Source)
	if err != nil {
		return true, err
	}
	tag, err := w.pool.Exec(ctx, `
		UPDATE transcode_task SET state = 'done', output = $3, locked_by = NULL, version = version + 1
		 WHERE id = $1 AND version = $2`, t.ID, t.Version, out)
	if err != nil {
		return true, err
	}
	if tag.RowsAffected() == 0 {
		return true, ErrGone
	}
	return true, nil
}
