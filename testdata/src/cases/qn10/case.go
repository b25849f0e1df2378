package qn10

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Budgets are spent by the allocator of a campaign. Transactions are
// SERIALIZABLE: reading the allocator row is enough. If the next allocator has
// already looked at the budget, this commit is refused.
type Budgets struct{ pool *pgxpool.Pool }

type Allocator struct {
	Campaign int64
	Term     int64
}

var ErrReplaced = errors.New("allocator was replaced")

const retries = 5

func (b *Budgets) do(ctx context.Context, a Allocator, fn func(pgx.Tx) error) error {
	var err error
	for range retries {
		err = pgx.BeginTxFunc(ctx, b.pool, pgx.TxOptions{IsoLevel: pgx.Serializable}, func(tx pgx.Tx) error {
			var term int64
			if err := tx.QueryRow(ctx, `SELECT term FROM allocators WHERE campaign = $1`, a.Campaign).Scan(&term); err != nil {
				return err
			}
			if term != a.Term {
				return ErrReplaced
			}
			return fn(tx)
		})
		var pe *pgconn.PgError
		if !errors.As(err, &pe) || pe.Code != "40001" {
			return err
		}
	}
	return fmt.Errorf("gave up after %d conflicts: %w", retries, err)
}

func (b *Budgets) Spend(ctx context.Context, a Allocator, cents int64) error {
	return b.do(ctx, a, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE budgets SET spent = spent + $2 WHERE campaign = $1`, a.Campaign, cents)
		return err
	})
}

func (b *Budgets) Close(ctx context.Context, a Allocator) error {
	return b.do(ctx, a, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE budgets SET closed_at = now() WHERE campaign = $1`, a.Campaign)
		return err
	})
}
