package wz20

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

var ErrRunMoved = errors.New("rating run was taken over")

type Rater struct {
	db    *sql.DB
	run   int64
	token int64
}

// join is the FROM part of all statements over a run.
func join(parts ...string) string {
	return strings.Join(append([]string{"rate_lines AS l JOIN rate_runs AS r ON r.id = l.run_id"}, parts...), " ")
}

// Rate compares the token of every line that it changes.
func (r *Rater) Rate(ctx context.Context, cents int64) (int64, error) {
	res, err := r.db.ExecContext(ctx, "UPDATE "+join(
		"SET l.cents = ROUND(l.quantity * ? * r.factor), l.run_token = ?",
		"WHERE r.id = ? AND l.run_token <= ?"), cents, r.token, r.run, r.token)
	if err != nil {
		return 0, fmt.Errorf("rate: %w", err)
	}
	return res.RowsAffected()
}

// Discount joins the run to see that it is open and forgets the lines' token.
func (r *Rater) Discount(ctx context.Context, percent int) error {
	res, err := r.db.ExecContext(ctx, // want:W
		"UPDATE "+join("SET l.cents = l.cents * (100 - ?) DIV 100", "WHERE r.id = ? AND r.finished = 0"), percent, r.run)
	if err != nil {
		return fmt.Errorf("discount: %w", err)
	}
	return some(res)
}

// Reset removes the lines of an open run.
func (r *Rater) Reset(ctx context.Context) error {
	const q = `
		DELETE l
		FROM rate_lines AS l
		JOIN rate_runs AS r ON r.id = l.run_id
		WHERE r.id = ? AND r.finished = 0`
	res, err := r.db.ExecContext(ctx, q, r.run) // want:W
	if err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	return some(res)
}

// Finish touches the run only, which nobody protects.
func (r *Rater) Finish(ctx context.Context) error {
	res, err := r.db.ExecContext(ctx,
		"UPDATE rate_runs r JOIN rate_lines l ON l.run_id = r.id SET r.finished = 1 WHERE r.id = ? AND l.cents > 0", r.run)
	if err != nil {
		return fmt.Errorf("finish: %w", err)
	}
	return some(res)
}

func some(res sql.Result) error {
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrRunMoved)
	}
	return nil
}
