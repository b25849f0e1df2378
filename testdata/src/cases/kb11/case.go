// Package kb11 is a mail queue on Postgres; messages of dead workers are taken
// back after a while.
package kb11

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type Message struct {
	ID       int64
	Body     []byte
	Attempt  int
	LockedAt *time.Time
	LockedBy *string
}

type Queue struct {
	pool    *pgxpool.Pool
	worker  string
	timeout time.Duration
}

const rescueSQL = `
UPDATE messages SET state = 'ready', locked_by = NULL, locked_at = NULL
 WHERE state = 'sending' AND locked_at < $1`

// Rescue takes messages back from workers that died while sending.
func (q *Queue) Rescue(ctx context.Context) (int64, error) {
	horizon := time.Now().Add(-q.timeout)
	tag, err := q.pool.Exec(ctx, rescueSQL, horizon) // want:T
	if err != nil {
		return 0, fmt.Errorf("rescue: %w", err)
	}
	return tag.RowsAffected(), nil
}

const claimSQL = `
UPDATE messages SET state = 'sending', locked_by = $1, locked_at = now(), attempt = attempt + 1
 WHERE id = (SELECT id FROM messages WHERE state = 'ready' AND send_at <= $2 ORDER BY send_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, body, attempt, locked_at, locked_by`

func (q *Queue) Claim(ctx context.Context) (*Message, error) {
	rows, err := q.pool.Query(ctx, claimSQL, q.worker, time.Now())
	if err != nil {
		return nil, err
	}
	m, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Message])
	if err != nil {
		return nil, err
	}
	return &m, nil
}

// Abandoned is used by the console and by Steal.
func (m *Message) Abandoned(after time.Duration) bool {
	return m.LockedBy != nil && m.LockedAt != nil && time.Since(*m.LockedAt) > after // want:T
}

func (q *Queue) Done(ctx context.Context, m *Message) error {
	tag, err := q.pool.Exec(ctx,
		`UPDATE messages SET state = 'sent' WHERE id = $1 AND attempt = $2 AND locked_by = $3`, m.ID, m.Attempt, q.worker)
	if err != nil {
		return err
	}
	if tag.RowsAffected() != 1 {
		return fmt.Errorf("message %d was taken back", m.ID)
	}
	return nil
}
