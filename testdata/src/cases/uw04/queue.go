package uw04

import (
	"context"
	"database/sql"
	"errors"
)

var (
	ErrEmpty = errors.New("nothing to send")
	ErrLost  = errors.New("batch was claimed again")
)

type Batch struct {
	ID      int64
	ClaimNo int64
	Body    []byte
}

type Queue struct{ db *sql.DB }

const claim = `
UPDATE mail_batch
SET state = 'sending', claim_no = claim_no + 1, claimed_until = now() + interval '2 minutes'
WHERE id = (
    SELECT id FROM mail_batch
    WHERE state = 'queued' OR (state = 'sending' AND claimed_until < now())
    ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1
)
RETURNING id, claim_no, body`

func (q *Queue) Next(ctx context.Context) (*Batch, error) {
	var b Batch
	err := q.db.QueryRowContext(ctx, claim).Scan(&b.ID, &b.ClaimNo, &b.Body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrEmpty
	}
	if err != nil {
		return nil, err
	}
	return &b, nil
}

// Sent names the claim it belongs to.
func (q *Queue) Sent(ctx context.Context, b *Batch) error {
	return one(q.db.ExecContext(ctx,
		`UPDATE mail_batch SET state = 'sent', claimed_until = NULL WHERE id = $1 AND claim_no = $2`, b.ID, b.ClaimNo))
}

// Bounced does not: the batch may be in the hands of the next sender.
func (q *Queue) Bounced(ctx context.Context, b *Batch, reason string) error {
	return one(q.db.ExecContext(ctx, // want:W|L
		`UPDATE mail_batch SET state = 'bounced', reason = $2, claimed_until = NULL WHERE id = $1`, b.ID, reason))
}

func one(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrLost
	}
	return nil
}
