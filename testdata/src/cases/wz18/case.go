package wz18

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

var ErrFenced = errors.New("import run has a newer worker")

type execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// own raises and compares the fence of the run; what follows reads from it, so
// it touches nothing when the run has moved on.
const own = `WITH own AS (
	UPDATE import_runs SET fence = $2 %s WHERE id = $1 AND fence <= $2 RETURNING id
) `

var (
	addSQL = fmt.Sprintf(own, "") + `INSERT INTO import_rows (run_id, line, body)
		SELECT own.id, u.line, u.body FROM own, unnest($3::int[], $4::jsonb[]) AS u(line, body)`
	markSQL = fmt.Sprintf(own, ", done = done + 1") + `UPDATE import_rows r SET state = $4 FROM own
		WHERE r.run_id = own.id AND r.line = $3`
	resetSQL = fmt.Sprintf(own, ", done = 0") + `DELETE FROM import_rows r USING own WHERE r.run_id = own.id`
)

type Worker struct {
	db    execer
	run   int64
	token int64
}

func (w *Worker) exec(ctx context.Context, sql string, args ...any) (int64, error) {
	tag, err := w.db.Exec(ctx, sql, append([]any{w.run, w.token}, args...)...)
	if err != nil {
		return 0, fmt.Errorf("run %d: %w", w.run, err)
	}
	return tag.RowsAffected(), nil
}

func (w *Worker) Add(ctx context.Context, lines []int32, bodies []string) error {
	n, err := w.exec(ctx, addSQL, lines, bodies)
	if err != nil {
		return err
	}
	if n != int64(len(lines)) {
		return ErrFenced
	}
	return nil
}

func (w *Worker) Mark(ctx context.Context, line int32, state string) error {
	n, err := w.exec(ctx, markSQL, line, state)
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrFenced
	}
	return nil
}

func (w *Worker) Reset(ctx context.Context) (int64, error) { return w.exec(ctx, resetSQL) }
