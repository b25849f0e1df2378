package wn17

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	sq "github.com/Masterminds/squirrel"
)

var (
	ErrNone  = errors.New("queue is empty")
	ErrStale = errors.New("export was given to another worker")
	pg       = sq.StatementBuilder.PlaceholderFormat(sq.Dollar)
)

type Export struct {
	ID      int64
	Report  string
	attempt int64
}

// Queue hands out exports. Each claim raises the attempt, and every later
// statement of that claim names it.
type Queue struct{ db *sql.DB }

func (q *Queue) Claim(ctx context.Context) (*Export, error) {
	var e Export
	err := q.db.QueryRowContext(ctx, `
		UPDATE exports SET state = 'running', attempt = attempt + 1, visible_at = now() + interval '5 minutes'
		WHERE id = (SELECT id FROM exports WHERE state IN ('queued', 'running') AND visible_at <= now()
		            ORDER BY visible_at LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING id, report, attempt`).Scan(&e.ID, &e.Report, &e.attempt)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNone
	}
	return &e, err
}

func (q *Queue) move(ctx context.Context, e *Export, set map[string]any) error {
	res, err := pg.Update("exports").SetMap(set).
		Where(sq.Eq{"id": e.ID, "attempt": e.attempt, "state": "running"}).
		RunWith(q.db).ExecContext(ctx)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("export %d: %w", e.ID, ErrStale)
	}
	return nil
}

func (q *Queue) Extend(ctx context.Context, e *Export) error {
	return q.move(ctx, e, map[string]any{"visible_at": sq.Expr("now() + interval '5 minutes'")})
}

func (q *Queue) Finish(ctx context.Context, e *Export, url string) error {
	return q.move(ctx, e, map[string]any{"state": "done", "url": url, "finished_at": sq.Expr("now()")})
}

func (q *Queue) Fail(ctx context.Context, e *Export, cause error) error {
	return q.move(ctx, e, map[string]any{"state": "failed", "error": cause.Error()})
}
