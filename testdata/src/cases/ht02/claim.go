package ht02

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

type Task struct {
	ID      int64
	Payload []byte
}

type Queue struct {
	db       *sql.DB
	workerID string
	hold     time.Duration
}

// Next takes the oldest task that is free or whose holder ran out of time.
func (q *Queue) Next(ctx context.Context) (*Task, error) {
	now := time.Now()
	row := q.db.QueryRowContext(ctx, // want:T
		`UPDATE tasks SET locked_by = $1, locked_until = $2
		 WHERE id = (SELECT id FROM tasks
		             WHERE done = false AND (locked_until IS NULL OR locked_until < $3)
		             ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
		 RETURNING id, payload`, q.workerID, now.Add(q.hold), now)
	var t Task
	switch err := row.Scan(&t.ID, &t.Payload); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &t, nil
}
