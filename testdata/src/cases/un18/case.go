// Package un18 writes ledger segments. The epoch is compared under a row lock
// that lasts to the commit.
package un18

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrSuperseded = errors.New("segment has a newer writer")

type Writer struct {
	pool    *pgxpool.Pool
	segment int64
	epoch   int64
}

// Open takes the segment; older writers are refused from then on.
func Open(ctx context.Context, pool *pgxpool.Pool, segment int64) (*Writer, error) {
	w := &Writer{pool: pool, segment: segment}
	err := pool.QueryRow(ctx, `UPDATE segment_ctl SET epoch = epoch + 1 WHERE segment = $1 RETURNING epoch`, segment).Scan(&w.epoch)
	if err != nil {
		return nil, fmt.Errorf("open segment %d: %w", segment, err)
	}
	return w, nil
}

func (w *Writer) current(ctx context.Context, tx pgx.Tx) error {
	var cur int64
	if err := tx.QueryRow(ctx, `SELECT epoch FROM segment_ctl WHERE segment = $1 FOR SHARE`, w.segment).Scan(&cur); err != nil {
		return err
	}
	if cur != w.epoch {
		return fmt.Errorf("%w: %d, not %d", ErrSuperseded, cur, w.epoch)
	}
	return nil
}

func (w *Writer) inTx(ctx context.Context, fn func(pgx.Tx) error) error {
	tx, err := w.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if err := w.current(ctx, tx); err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// Append adds an entry and moves the tail.
func (w *Writer) Append(ctx context.Context, seq int64, body []byte) error {
	return w.inTx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO segment_entry (segment, seq, body) VALUES ($1, $2, $3)`, w.segment, seq, body); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE segment_tail SET seq = $2 WHERE segment = $1`, w.segment, seq)
		return err
	})
}

// Seal ends the segment.
func (w *Writer) Seal(ctx context.Context) error {
	return w.inTx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE segment_tail SET sealed = true WHERE segment = $1`, w.segment)
		return err
	})
}
