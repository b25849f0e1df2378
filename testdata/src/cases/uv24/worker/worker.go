// Package worker fulfils orders for the region it leases.
package worker

import (
	"context"
	"database/sql"
	"errors"
)

var ErrStale = errors.New("region was leased to another worker")

type Worker struct {
	db    *sql.DB
	fence int64
}

// Ship compares the fence of the region's lease.
func (w *Worker) Ship(ctx context.Context, order int64, parcel string) error {
	res, err := w.db.ExecContext(ctx, `
		UPDATE orders SET status = 'shipped', parcel = $2, fence = $3
		WHERE id = $1 AND fence <= $3`, order, parcel, w.fence)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		return ErrStale
	}
	return err
}

// Annotate only touches a column that anybody may set.
func (w *Worker) Annotate(ctx context.Context, order int64, note string) error {
	_, err := w.db.ExecContext(ctx, `UPDATE orders SET note = $2 WHERE id = $1`, order, note)
	return err
}

// Hold sets the status along with the note.
func (w *Worker) Hold(ctx context.Context, order int64, why string) error {
	_, err := w.db.ExecContext(ctx, `UPDATE orders SET status = 'held', note = $2 WHERE id = $1`, order, why) // want:W
	return err
}
