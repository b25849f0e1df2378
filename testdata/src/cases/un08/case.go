// Package un08 numbers invoices without gaps.
package un08

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrBusy = errors.New("series is being numbered")

type Numberer struct{ pool *pgxpool.Pool }

func lockID(series string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("invoice-series/" + series))
	return int64(h.Sum64())
}

// exclusively runs fn in a transaction that holds the lock of a series.
func (n *Numberer) exclusively(ctx context.Context, series string, fn func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, n.pool, func(tx pgx.Tx) error {
		var got bool
		if err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1)`, lockID(series)).Scan(&got); err != nil {
			return fmt.Errorf("lock %s: %w", series, err)
		}
		if !got {
			return ErrBusy
		}
		return fn(tx)
	})
}

// Number gives numbers to all invoices of a series that have none.
func (n *Numberer) Number(ctx context.Context, series string) (given int, err error) {
	err = n.exclusively(ctx, series, func(tx pgx.Tx) error {
		var last int64
		if err := tx.QueryRow(ctx, `SELECT coalesce(max(number), 0) FROM numbered_invoice WHERE series = $1`, series).Scan(&last); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT id FROM numbered_invoice WHERE series = $1 AND number IS NULL ORDER BY created_at`, series)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return err
		}
		for _, id := range ids {
			last++
			if _, err := tx.Exec(ctx, `UPDATE numbered_invoice SET number = $2 WHERE id = $1`, id, last); err != nil {
				return err
			}
			given++
		}
		_, err = tx.Exec(ctx, `UPDATE invoice_series SET last_number = $2 WHERE name = $1`, series, last)
		return err
	})
	return given, err
}
