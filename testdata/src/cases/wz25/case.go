package wz25

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var (
	ErrEmpty = errors.New("nothing to deliver")
	ErrGone  = errors.New("delivery was claimed again")
)

type Delivery struct {
	ID      int64
	Attempt int
	URL     string
	Body    []byte
}

type Queue struct {
	pool       *pgxpool.Pool
	visibility time.Duration
}

const claimSQL = `
UPDATE webhook_deliveries SET attempt = attempt + 1, visible_at = now() + $1::interval
WHERE id = (
    SELECT id FROM webhook_deliveries
    WHERE state = 'pending' AND visible_at <= now()
    ORDER BY visible_at LIMIT 1 FOR UPDATE SKIP LOCKED
)
RETURNING id, attempt, url, body`

func (q *Queue) Claim(ctx context.Context) (*Delivery, error) {
	var d Delivery
	err := q.pool.QueryRow(ctx, claimSQL, q.visibility).Scan(&d.ID, &d.Attempt, &d.URL, &d.Body)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrEmpty
	}
	return &d, err
}

func (q *Queue) Ack(ctx context.Context, d *Delivery) error {
	return q.settle(ctx, `UPDATE webhook_deliveries SET state = 'sent', sent_at = now() WHERE id = $1 AND attempt = $2`, d.ID, d.Attempt)
}

func (q *Queue) Retry(ctx context.Context, d *Delivery, in time.Duration) error {
	return q.settle(ctx, `UPDATE webhook_deliveries SET visible_at = now() + $3::interval WHERE id = $1 AND attempt = $2`, d.ID, d.Attempt, in)
}

// Bury gives up. A slow worker buries the delivery that another one has since
// taken, and may have sent.
func (q *Queue) Bury(ctx context.Context, d *Delivery, cause error) error {
	tag, err := q.pool.Exec(ctx, // want:W|L
		`UPDATE webhook_deliveries SET state = 'dead', last_error = $2 WHERE id = $1`, d.ID, cause.Error())
	if err != nil {
		return fmt.Errorf("bury %d: %w", d.ID, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrGone
	}
	return nil
}

func (q *Queue) settle(ctx context.Context, sql string, args ...any) error {
	tag, err := q.pool.Exec(ctx, sql, args...)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return ErrGone
	}
	return nil
}
