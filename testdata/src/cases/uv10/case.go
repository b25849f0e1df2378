package uv10

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"example.com/corpus/cases/uv10/store"
)

// Runner executes exports one after the other.
type Runner struct {
	q      *store.Queries
	export func(ctx context.Context, id int64, format string) (url string, err error)
}

var errIdle = errors.New("nothing to do")

func (r *Runner) Next(ctx context.Context) error {
	row, err := r.q.ClaimExport(ctx, 300)
	if errors.Is(err, pgx.ErrNoRows) {
		return errIdle
	}
	if err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	url, err := r.export(ctx, row.ID, row.Format)
	if err != nil {
		return r.fail(ctx, row, err)
	}
	n, err := r.q.CompleteExport(ctx, store.CompleteExportParams{ID: row.ID, Url: url, Attempt: row.Attempt})
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("export %d was claimed again", row.ID)
	}
	return nil
}

// fail was written before attempts were counted.
func (r *Runner) fail(ctx context.Context, row store.ClaimExportRow, cause error) error {
	err := r.q.FailExport(ctx, store.FailExportParams{ID: row.ID, Error: cause.Error()}) // want:W|L
	return errors.Join(cause, err)
}
