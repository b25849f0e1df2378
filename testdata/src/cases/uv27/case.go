package uv27

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"

	"example.com/corpus/cases/uv27/stmt"
)

var errLost = errors.New("the render was given to another worker")

// Renders keeps its statements with names for the log.
type Renders struct {
	db       *sql.DB
	finish   *stmt.Named
	progress *stmt.Named
}

func Open(db *sql.DB, mark string) *Renders {
	return &Renders{
		db: db,
		finish: stmt.New(`
			UPDATE stills SET state = 'done', frames = ?
			WHERE id = ? AND attempt = ?`, mark, "finish"),
		progress: stmt.New(`
			UPDATE stills SET frames = ?
			WHERE id = ?`, mark, "progress"),
	}
}

func (r *Renders) execute(ctx context.Context, s *stmt.Named, args ...any) (int64, error) {
	start := time.Now()
	res, err := r.db.ExecContext(ctx, s.SQL, args...)
	slog.Debug("statement", "name", s.Name, "took", time.Since(start), "err", err)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Finish stores the result of the attempt that made it.
func (r *Renders) Finish(ctx context.Context, id, attempt, frames int64) error {
	n, err := r.execute(ctx, r.finish, frames, id, attempt)
	if err == nil && n == 0 {
		err = errLost
	}
	return err
}

// Progress counts back if a former attempt reports late.
func (r *Renders) Progress(ctx context.Context, id, frames int64) error {
	_, err := r.execute(ctx, r.progress, frames, id) // want:W
	return err
}
