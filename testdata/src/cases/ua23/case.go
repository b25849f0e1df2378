// Package ua23 is a queue of render jobs in a table.
package ua23

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

var ErrEmpty = errors.New("nothing to render")

type Render struct {
	ID      int64
	Scene   string
	Attempt int
}

type Queue struct {
	db         *sql.DB
	worker     string
	visibility time.Duration
}

const pop = `
UPDATE render_job SET worker = $1, lease_until = $2, attempt = attempt + 1
WHERE id = (
	SELECT id FROM render_job
	WHERE state = 'open' AND (lease_until IS NULL OR lease_until < $3)
	ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, scene, attempt`

// Pop returns the next job that is free or whose worker has not come back.
func (q *Queue) Pop(ctx context.Context) (*Render, error) {
	var r Render
	now := time.Now()
	err := q.db.QueryRowContext(ctx, pop, q.worker, now.Add(q.visibility), now).Scan(&r.ID, &r.Scene, &r.Attempt) // want:T
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrEmpty
	}
	return &r, err
}

// Push adds a scene.
func (q *Queue) Push(ctx context.Context, scene string) (id int64, err error) {
	err = q.db.QueryRowContext(ctx, `INSERT INTO render_job (scene, state, attempt) VALUES ($1, 'open', 0) RETURNING id`, scene).Scan(&id)
	return id, err
}

// Ack ends the attempt that Pop has started.
func (q *Queue) Ack(ctx context.Context, r *Render, frames int) (bool, error) {
	res, err := q.db.ExecContext(ctx,
		`UPDATE render_job SET state = 'rendered', frames = $3 WHERE id = $1 AND attempt = $2 AND state = 'open'`,
		r.ID, r.Attempt, frames)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}
