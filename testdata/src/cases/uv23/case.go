package uv23

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Transcode is a unit of work; Claim is a new id for every claim of it.
type Transcode struct {
	ID    int64
	Claim string
	Input string
}

var (
	ErrNone = errors.New("queue is empty")
	ErrLost = errors.New("claim was lost")
)

type Queue struct{ pool *pgxpool.Pool }

const claimSQL = `
UPDATE transcodes
SET claim = gen_random_uuid(), claimed_until = now() + interval '90 seconds', state = 'running'
WHERE id = (
    SELECT id FROM transcodes
    WHERE state = 'new' OR (state = 'running' AND claimed_until < now())
    ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1)
RETURNING id, claim::text, input`

func (q *Queue) Claim(ctx context.Context) (*Transcode, error) {
	var t Transcode
	err := q.pool.QueryRow(ctx, claimSQL).Scan(&t.ID, &t.Claim, &t.Input)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	return &t, nil
}

// Finish stores the result if the claim is still the one that was handed out.
func (q *Queue) Finish(ctx context.Context, t *Transcode, output string) error {
	tag, err := q.pool.Exec(ctx,
		`UPDATE transcodes SET state = 'done', output = $3, claim = NULL WHERE id = $1 AND claim = $2`,
		t.ID, t.Claim, output)
	if err != nil {
		return err
	}
	if tag.RowsAffected() != 1 {
		return ErrLost
	}
	return nil
}

// GiveUp was added later.
func (q *Queue) GiveUp(ctx context.Context, t *Transcode, cause error) error {
	_, err := q.pool.Exec(ctx, // want:W|L
		`UPDATE transcodes SET state = 'failed', error = $2, claim = NULL WHERE id = $1`, t.ID, cause.Error())
	if err != nil {
		return fmt.Errorf("give up %d: %w", t.ID, err)
	}
	return nil
}
