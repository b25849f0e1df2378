package wz05

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrRunTaken = errors.New("billing run was taken over")

type Line struct {
	Invoice int64
	Total   string
}

// Run is one owner's pass over the invoices of a month.
type Run struct {
	pool  *pgxpool.Pool
	token int64
	size  int
}

// Price stores totals in slices of r.size.
func (r *Run) Price(ctx context.Context, lines []Line) error {
	for len(lines) > 0 {
		n := min(r.size, len(lines))
		b := &pgx.Batch{}
		for _, l := range lines[:n] {
			b.Queue(`UPDATE invoices_due SET total = $2, fence = $3 WHERE id = $1 AND fence <= $3`, l.Invoice, l.Total, r.token)
		}
		if err := r.flush(ctx, b); err != nil {
			return fmt.Errorf("price: %w", err)
		}
		lines = lines[n:]
	}
	return nil
}

// Seal closes the priced invoices in one round trip.
func (r *Run) Seal(ctx context.Context, ids []int64) error {
	var b pgx.Batch
	seal := func(id int64) {
		b.Queue(`UPDATE invoices_due SET state = 'sealed', sealed = now() WHERE id = $1 AND state = 'open'`, id) // want:W
	}
	for _, id := range ids {
		seal(id)
	}
	if err := r.flush(ctx, &b); err != nil { // may:W
		return fmt.Errorf("seal: %w", err)
	}
	return nil
}

func (r *Run) flush(ctx context.Context, b *pgx.Batch) (err error) { // may:W
	res := r.pool.SendBatch(ctx, b)
	defer func() { err = errors.Join(err, res.Close()) }()
	for range b.Len() {
		tag, err := res.Exec()
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return ErrRunTaken
		}
	}
	return nil
}
