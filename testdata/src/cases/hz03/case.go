package hz03

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/corpus/cases/hz03/db"
)

var errSuperseded = errors.New("another worker has the job now")

type Handler func(ctx context.Context, id int64) error

type Worker struct {
	q        *db.Queries
	name     string
	handlers map[string]Handler
	timeout  time.Duration // below the five minutes of the lease
}

func (w *Worker) Run(ctx context.Context) {
	for ctx.Err() == nil {
		switch err := w.once(ctx); {
		case err == nil:
		case errors.Is(err, pgx.ErrNoRows):
			time.Sleep(time.Second)
		default:
			slog.Error("job", "err", err)
		}
	}
}

func (w *Worker) once(ctx context.Context) error {
	anchor := time.Now()
	j, err := w.q.ClaimJob(ctx, w.name)
	if err != nil {
		return err
	}
	jctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jctx, stop := context.WithDeadline(jctx, anchor.Add(w.timeout))
	defer stop()

	arg := db.CompleteJobParams{ID: j.ID, Attempt: j.Attempt, Status: "done"}
	h, ok := w.handlers[j.Kind]
	if !ok {
		msg := "no handler"
		arg.Status, arg.Error = "failed", &msg
	} else if err := h(jctx, j.ID); err != nil {
		msg := err.Error()
		arg.Status, arg.Error = "failed", &msg
	}
	n, err := w.q.CompleteJob(ctx, arg)
	if err != nil {
		return err
	}
	if n == 0 {
		return errSuperseded
	}
	return nil
}
