package pn03

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrFenced = errors.New("claim was superseded")

// Queue compares the claim in Go, but on a row that it has locked and in the
// transaction that writes.
type Queue struct {
	pool *pgxpool.Pool
}

type Claim struct {
	JobID int64
	Token int64
}

func (q *Queue) locked(ctx context.Context, tx pgx.Tx, c Claim) error {
	var tok int64
	err := tx.QueryRow(ctx, `SELECT claim_token FROM render_job WHERE id = $1 FOR UPDATE`, c.JobID).Scan(&tok)
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("job %d is gone: %w", c.JobID, ErrFenced)
	}
	if err != nil {
		return err
	}
	if tok != c.Token {
		return ErrFenced
	}
	return nil
}

func (q *Queue) Complete(ctx context.Context, c Claim, frames int, url string) error {
	return pgx.BeginTxFunc(ctx, q.pool, pgx.TxOptions{}, func(tx pgx.Tx) error {
		if err := q.locked(ctx, tx, c); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx,
			`UPDATE render_job SET state = 'done', frames = $2 WHERE id = $1`, c.JobID, frames); err != nil {
			return fmt.Errorf("complete %d: %w", c.JobID, err)
		}
		_, err := tx.Exec(ctx, `UPDATE render_output SET url = $2 WHERE job_id = $1`, c.JobID, url)
		return err
	})
}
