package uc23

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var (
	ErrEmpty = errors.New("no task")
	ErrLost  = errors.New("task was claimed again")
)

type Task struct {
	ID      int64
	Payload []byte
	Claim   int64
}

const claim = `
UPDATE tasks SET locked_by = $1, locked_until = $2, claim = claim + 1
WHERE id = (
	SELECT id FROM tasks
	WHERE done_at IS NULL AND (locked_until IS NULL OR locked_until < $3)
	ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload, claim`

type Queue struct {
	pool   *pgxpool.Pool
	worker string
	hold   time.Duration
	now    func() time.Time
}

func NewQueue(pool *pgxpool.Pool, worker string) *Queue {
	return &Queue{pool: pool, worker: worker, hold: 2 * time.Minute, now: time.Now}
}

// Next claims a task that is free or whose worker ran out of time, judged by
// the clock of this process.
func (q *Queue) Next(ctx context.Context) (*Task, error) {
	var t Task
	at := q.now().UTC()
	err := q.pool.QueryRow(ctx, claim, q.worker, at.Add(q.hold), at).Scan(&t.ID, &t.Payload, &t.Claim) // want:T
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrEmpty
	}
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	return &t, nil
}

// Done is accepted for the claim that is still the last one.
func (q *Queue) Done(ctx context.Context, t *Task) error {
	tag, err := q.pool.Exec(ctx,
		`UPDATE tasks SET done_at = now(), locked_by = NULL, locked_until = NULL WHERE id = $1 AND claim = $2`, t.ID, t.Claim)
	if err != nil {
		return err
	}
	if tag.RowsAffected() != 1 {
		return fmt.Errorf("task %d: %w", t.ID, ErrLost)
	}
	return nil
}
