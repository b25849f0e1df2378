package yn04

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

type Task struct {
	ID      int64  `db:"id"`
	Attempt int32  `db:"attempt"`
	Input   []byte `db:"input"`
}

var ErrReclaimed = errors.New("task was reclaimed")

const (
	leaseSeconds = 120
	margin       = 30 * time.Second
)

// Worker leaves every judgement of the lease to the database's clock.
type Worker struct {
	db   *sqlx.DB
	name string
	run  func(ctx context.Context, in []byte) ([]byte, error)
}

func (w *Worker) claim(ctx context.Context) (*Task, error) {
	var t Task
	err := w.db.GetContext(ctx, &t, `
		UPDATE tasks SET leased_by = $1, leased_until = now() + make_interval(secs => $2), attempt = attempt + 1
		WHERE id = (
			SELECT id FROM tasks WHERE done_at IS NULL AND (leased_until IS NULL OR leased_until < now())
			ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
		) RETURNING id, attempt, input`, w.name, leaseSeconds)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &t, err
}

// One works on one task and stores the result under the attempt of its claim.
func (w *Worker) One(ctx context.Context) error {
	sent := time.Now()
	t, err := w.claim(ctx)
	if err != nil || t == nil {
		return err
	}
	rctx, cancel := context.WithDeadline(ctx, sent.Add(leaseSeconds*time.Second-margin))
	defer cancel()
	out, err := w.run(rctx, t.Input)
	if err != nil {
		return fmt.Errorf("task %d: %w", t.ID, err)
	}
	res, err := w.db.ExecContext(ctx,
		`UPDATE tasks SET output = $3, done_at = now() WHERE id = $1 AND attempt = $2`, t.ID, t.Attempt, out)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil {
		return err
	} else if n != 1 {
		return ErrReclaimed
	}
	return nil
}
