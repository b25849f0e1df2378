package wz26

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"example.com/corpus/cases/wz26/exportdb"
)

var ErrReclaimed = errors.New("export was claimed by another worker")

// Sink uploads one export and returns where it is.
type Sink interface {
	Upload(ctx context.Context, id int64, progress func(percent int64) error) (string, error)
}

type Worker struct {
	q    exportdb.Querier
	sink Sink
}

func NewWorker(db *sql.DB, s Sink) *Worker { return &Worker{q: exportdb.New(db), sink: s} }

// Run reports progress under the claim, and the result under the id alone.
func (w *Worker) Run(ctx context.Context, id int64, claim string) error {
	loc, err := w.sink.Upload(ctx, id, func(percent int64) error {
		return hit(w.q.SetProgress(ctx, exportdb.SetProgressParams{
			Progress: percent,
			ID:       id,
			Claim:    sql.NullString{String: claim, Valid: true},
		}))
	})
	if err != nil {
		return fmt.Errorf("upload %d: %w", id, err)
	}
	return hit(w.q.SetLocation(ctx, exportdb.SetLocationParams{ // want:W|L
		Location: sql.NullString{String: loc, Valid: true},
		ID:       id,
	}))
}

func hit(n int64, err error) error {
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrReclaimed
	}
	return nil
}
