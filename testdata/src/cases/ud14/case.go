package ud14

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type Execution struct {
	ID      int64
	Queue   string
	Payload []byte
	Attempt int32
}

var ErrEmpty = errors.New("queue is empty")

// Poller takes workflow executions off a table.
type Poller struct {
	pool  *pgxpool.Pool
	owner string
	lease time.Duration
}

const claimSQL = `
UPDATE executions SET claimed_by = $1, claim_expires_at = $2, attempt = attempt + 1
WHERE id = (
	SELECT id FROM executions
	WHERE queue = $3 AND (claimed_by IS NULL OR claim_expires_at < $4)
	ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
)
RETURNING id, queue, payload, attempt`

// Next claims one row, also one whose worker stopped extending its claim.
func (p *Poller) Next(ctx context.Context, queue string) (*Execution, error) { // may:M
	now := time.Now().UTC()
	row := p.pool.QueryRow(ctx, claimSQL, p.owner, now.Add(p.lease), queue, now) // want:T
	var e Execution
	err := row.Scan(&e.ID, &e.Queue, &e.Payload, &e.Attempt)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrEmpty
	}
	if err != nil {
		return nil, err
	}
	return &e, nil
}

// Complete is bound to the attempt of the claim.
func (p *Poller) Complete(ctx context.Context, e *Execution, out []byte) error {
	tag, err := p.pool.Exec(ctx,
		`UPDATE executions SET result = $3, claimed_by = NULL WHERE id = $1 AND attempt = $2`, e.ID, e.Attempt, out)
	if err != nil {
		return err
	}
	if tag.RowsAffected() != 1 {
		return errors.New("execution was claimed again")
	}
	return nil
}
