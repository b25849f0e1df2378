package uf24

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const sqlSelectLost = `
SELECT id, attempt, retries
FROM step_queue
WHERE status = 'ASSIGNED' AND assigned_at < now() - make_interval(secs => $1)
LIMIT 500`

const sqlRequeue = `
UPDATE step_queue
SET status = 'PENDING', worker_id = NULL, assigned_at = NULL
WHERE id = ANY($1::bigint[])`

const sqlGiveUp = `
UPDATE step_queue
SET status = 'FAILED', error = $2, finished_at = now()
WHERE id = $1`

type lostStep struct {
	ID      int64
	Attempt int32
	Retries int32
}

// Reassign puts steps of dead workers back.
type Reassign struct {
	pool  *pgxpool.Pool
	grace time.Duration
}

func (r *Reassign) lost(ctx context.Context) ([]lostStep, error) {
	rows, err := r.pool.Query(ctx, sqlSelectLost, r.grace.Seconds())
	if err != nil {
		return nil, fmt.Errorf("select lost steps: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[lostStep])
}

// Once reads, decides here, and writes by id: a step that a worker got or
// finished in between is handed out a second time.
func (r *Reassign) Once(ctx context.Context) error {
	steps, err := r.lost(ctx)
	if err != nil {
		return err
	}
	var again []int64
	for _, s := range steps {
		if s.Attempt < s.Retries {
			again = append(again, s.ID)
			continue
		}
		msg := fmt.Sprintf("no answer in attempt %d", s.Attempt)
		if _, err := r.pool.Exec(ctx, sqlGiveUp, s.ID, msg); err != nil { // want:W|L
			return fmt.Errorf("fail step %d: %w", s.ID, err)
		}
	}
	if len(again) == 0 {
		return nil
	}
	tag, err := r.pool.Exec(ctx, sqlRequeue, again) // want:W|L
	if err != nil {
		return fmt.Errorf("requeue: %w", err)
	}
	slog.InfoContext(ctx, "requeued steps", "count", tag.RowsAffected())
	return nil
}
