package hn11

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

type Msg struct {
	ID      int64     `db:"id"`
	Body    []byte    `db:"body"`
	Claim   uuid.UUID `db:"claim_id"`
	Retries int       `db:"retries"`
}

type Relay struct {
	db   *sqlx.DB
	send func(context.Context, []byte) error
}

// Step claims with the database's clock and finishes only its own claim.
func (r *Relay) Step(ctx context.Context) error {
	claim := uuid.New()
	var msgs []Msg
	err := r.db.SelectContext(ctx, &msgs, `
		UPDATE outbox SET claim_id = $1, claimed_until = now() + interval '30 seconds', retries = retries + 1
		WHERE id IN (SELECT id FROM outbox WHERE sent_at IS NULL
		               AND (claimed_until IS NULL OR claimed_until < now())
		             ORDER BY id LIMIT 20 FOR UPDATE SKIP LOCKED)
		RETURNING id, body, claim_id, retries`, claim)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(20 * time.Second)
	for _, m := range msgs {
		if !time.Now().Before(deadline) {
			return nil
		}
		if m.Retries > 5 {
			if _, err := r.db.ExecContext(ctx, `UPDATE outbox SET sent_at = now(), failed = true WHERE id = $1 AND claim_id = $2`, m.ID, claim); err != nil {
				return err
			}
			continue
		}
		if err := r.send(ctx, m.Body); err != nil {
			continue
		}
		if _, err := r.db.ExecContext(ctx, `UPDATE outbox SET sent_at = now() WHERE id = $1 AND claim_id = $2`, m.ID, claim); err != nil {
			return err
		}
	}
	return nil
}
