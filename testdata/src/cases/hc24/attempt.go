package hc24

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"
)

type Attempt struct {
	JobID  string `db:"job_id"`
	Number int    `db:"attempt"`
}

var ErrLostAttempt = errors.New("a newer attempt runs this job")

type JobStore struct{ db *sqlx.DB }

// Fail compares the attempt in Go at READ COMMITTED without locking the row.
func (s *JobStore) Fail(ctx context.Context, a Attempt, reason string) error {
	tx, err := s.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var cur Attempt
	if err := tx.GetContext(ctx, &cur, `SELECT job_id, attempt FROM jobs WHERE job_id = $1`, a.JobID); err != nil {
		return err
	}
	if cur.Number > a.Number {
		return ErrLostAttempt
	}
	if _, err := tx.NamedExecContext(ctx, `UPDATE jobs SET state = 'failed', reason = :reason WHERE job_id = :id`, // want:C|L
		map[string]any{"id": a.JobID, "reason": reason}); err != nil {
		return err
	}
	return tx.Commit()
}
