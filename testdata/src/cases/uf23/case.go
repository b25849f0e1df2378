package uf23

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Queue hands out messages; a message that is not deleted in time is handed
// out again, perhaps by another process.
type Queue struct {
	db      *sql.DB
	name    string
	consume string // this consumer
	timeout time.Duration
}

type Message struct {
	ID       string
	Received int
	Body     []byte
}

const receive = `
	UPDATE queue_messages
	SET locked_by = $1, locked_until = $2, received = received + 1
	WHERE id = (
		SELECT id FROM queue_messages
		WHERE queue = $3 AND $4 >= locked_until
		ORDER BY created_at
		LIMIT 1
		FOR UPDATE SKIP LOCKED
	)
	RETURNING id, received, body`

// Receive returns nil when there is nothing to do.
func (q *Queue) Receive(ctx context.Context) (*Message, error) {
	now := time.Now()
	var m Message
	err := q.db.QueryRowContext(ctx, receive, q.consume, now.Add(q.timeout), q.name, now). // want:T
												Scan(&m.ID, &m.Received, &m.Body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	return &m, nil
}

var ErrGone = errors.New("message was received again")

func (q *Queue) Delete(ctx context.Context, m *Message) error {
	res, err := q.db.ExecContext(ctx,
		`DELETE FROM queue_messages WHERE queue = $1 AND id = $2 AND received = $3`, q.name, m.ID, m.Received)
	if err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(ErrGone, err)
	}
	return nil
}
