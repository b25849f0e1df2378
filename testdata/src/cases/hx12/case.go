package hx12

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	sq "github.com/Masterminds/squirrel"
)

var (
	psql      = sq.StatementBuilder.PlaceholderFormat(sq.Dollar)
	ErrStolen = errors.New("export is owned by another worker")
)

type Export struct {
	ID    int64
	Query string
}

// Worker takes exports from the table and writes them out.
type Worker struct {
	db   *sql.DB
	name string
}

func NewWorker(db *sql.DB) *Worker {
	host, _ := os.Hostname()
	return &Worker{db: db, name: fmt.Sprintf("%s/%d", host, os.Getpid())}
}

func (w *Worker) claim(ctx context.Context) (*Export, error) {
	var e Export
	err := w.db.QueryRowContext(ctx, `
		UPDATE exports SET worker = $1, state = 'running', claimed_at = now()
		WHERE id = (SELECT id FROM exports
		            WHERE state = 'queued' OR (state = 'running' AND claimed_at < now() - interval '10 minutes')
		            ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING id, query`, w.name).Scan(&e.ID, &e.Query)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &e, err
}

func (w *Worker) stillMine(ctx context.Context, id int64) (bool, error) {
	var owner string
	err := psql.Select("worker").From("exports").Where(sq.Eq{"id": id}).
		RunWith(w.db).QueryRowContext(ctx).Scan(&owner)
	return owner == w.name, err
}

// finish looks whether the export was taken over and then marks it.
func (w *Worker) finish(ctx context.Context, id int64, url string) error {
	ok, err := w.stillMine(ctx, id)
	if err != nil {
		return err
	}
	if !ok {
		return ErrStolen
	}
	_, err = psql.Update("exports"). // want:C|L|W
						Set("state", "done").
						Set("url", url).
						Where(sq.Eq{"id": id}).
						RunWith(w.db).ExecContext(ctx)
	return err
}

func (w *Worker) Once(ctx context.Context, write func(context.Context, *Export) (string, error)) error {
	e, err := w.claim(ctx)
	if err != nil || e == nil {
		return err
	}
	url, err := write(ctx, e)
	if err != nil {
		return err
	}
	return w.finish(ctx, e.ID, url) // may:C|L|W
}
