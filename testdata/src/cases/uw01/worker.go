package uw01

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/corpus/cases/uw01/db"
)

const leaseSecs = 30

var errLost = errors.New("run was claimed by another worker")

// Runner executes one step of a pipeline; beat extends the lease.
type Runner interface {
	Run(ctx context.Context, pipeline string, beat func(context.Context) error) ([]byte, error)
}

type Worker struct {
	q *db.Queries
	r Runner
}

func NewWorker(pool *pgxpool.Pool, r Runner) *Worker { return &Worker{q: db.New(pool), r: r} }

func (w *Worker) Once(ctx context.Context) error { // may:M
	run, err := w.q.ClaimRun(ctx, leaseSecs)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	out, err := w.r.Run(ctx, run.Pipeline, func(ctx context.Context) error {
		n, err := w.q.ExtendRun(ctx, db.ExtendRunParams{Secs: leaseSecs, ID: run.ID, Attempt: run.Attempt})
		return lost(n, err)
	})
	if err != nil {
		return w.fail(ctx, run.ID, err)
	}
	// The state is compared, the attempt is not: a second attempt that is
	// running meets the same condition.
	n, err := w.q.CompleteRun(ctx, db.CompleteRunParams{ID: run.ID, Output: out}) // want:W|L
	return lost(n, err)
}

func (w *Worker) fail(ctx context.Context, id int64, cause error) error {
	msg := cause.Error()
	n, err := w.q.FailRun(ctx, db.FailRunParams{ID: id, LastError: &msg}) // want:W|L
	return lost(n, err)
}

func lost(n int64, err error) error {
	if err == nil && n == 0 {
		return errLost
	}
	return err
}
