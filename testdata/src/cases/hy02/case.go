package hy02

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/corpus/cases/hy02/clock"
)

type Task struct {
	ID   int64
	Kind string
	Args []byte
}

type Queue struct {
	pool   *pgxpool.Pool
	clock  clock.Clock
	worker string
	lease  time.Duration
}

func NewQueue(pool *pgxpool.Pool, worker string) *Queue {
	return &Queue{pool: pool, clock: clock.System, worker: worker, lease: 2 * time.Minute}
}

const claimSQL = `
UPDATE tasks
SET state = 'leased', worker_id = $1, lease_expires_at = $2
WHERE id = (
    SELECT id FROM tasks
    WHERE state = 'pending'
       OR (state = 'leased' AND lease_expires_at <= $3)
    ORDER BY id
    FOR UPDATE SKIP LOCKED
    LIMIT 1)
RETURNING id, kind, args`

// Claim takes the next pending task or one whose worker let its lease lapse.
func (q *Queue) Claim(ctx context.Context) (*Task, error) {
	now := q.clock.Now()
	var t Task
	err := q.pool.QueryRow(ctx, claimSQL, q.worker, now.Add(q.lease), now).Scan(&t.ID, &t.Kind, &t.Args) // want:T
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &t, nil
}

func (q *Queue) Depth(ctx context.Context) (n int64, err error) {
	err = q.pool.QueryRow(ctx, `SELECT count(*) FROM tasks WHERE state = 'pending'`).Scan(&n)
	return n, err
}
