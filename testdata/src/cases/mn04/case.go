package mn04

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var (
	ErrBusy = errors.New("period is being closed")
	ErrDone = errors.New("period is closed")
)

// Periods closes accounting periods; the lock ends with the transaction.
type Periods struct{ pool *pgxpool.Pool }

func exclusively(ctx context.Context, pool *pgxpool.Pool, key int64, fn func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		var ok bool
		if err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1)`, key).Scan(&ok); err != nil {
			return fmt.Errorf("lock: %w", err)
		}
		if !ok {
			return ErrBusy
		}
		return fn(tx)
	})
}

func (p *Periods) Close(ctx context.Context, id int64) error {
	return exclusively(ctx, p.pool, id, func(tx pgx.Tx) error {
		var closed bool
		if err := tx.QueryRow(ctx, `SELECT closed FROM fiscal_periods WHERE id = $1`, id).Scan(&closed); err != nil {
			return fmt.Errorf("load period: %w", err)
		}
		if closed {
			return ErrDone
		}
		if _, err := tx.Exec(ctx, `UPDATE fiscal_sums SET final = total WHERE period_id = $1`, id); err != nil {
			return fmt.Errorf("sums: %w", err)
		}
		_, err := tx.Exec(ctx, `UPDATE fiscal_periods SET closed = true WHERE id = $1`, id)
		return err
	})
}
