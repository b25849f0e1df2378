package ub02

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Settler closes the books of a merchant once a day.
type Settler struct {
	pool *pgxpool.Pool
	lk   *locker
}

func (s *Settler) Settle(ctx context.Context, merchant string, day string) error {
	return s.lk.exclusively(ctx, "settle:"+merchant, func(ctx context.Context) error { // may:C
		var total int64
		err := s.pool.QueryRow(ctx,
			`SELECT coalesce(sum(amount), 0) FROM payment WHERE merchant = $1 AND booked_on = $2`, merchant, day).Scan(&total)
		if err != nil {
			return fmt.Errorf("sum: %w", err)
		}
		fee := total * 29 / 1000
		if fee < 30 {
			fee = 30
		}
		_, err = s.pool.Exec(ctx, // want:C
			`UPDATE merchant_balance SET payable = payable + $2, settled_on = $3 WHERE merchant = $1`,
			merchant, total-fee, day)
		if err != nil {
			return fmt.Errorf("balance: %w", err)
		}
		return nil
	})
}
