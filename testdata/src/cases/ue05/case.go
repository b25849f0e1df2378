package ue05

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Repricer recomputes the price list of one shop.
type Repricer struct {
	locks *Locker
	pool  *pgxpool.Pool
	rates func(ctx context.Context, currency string) (float64, error)
}

func (r *Repricer) Reprice(ctx context.Context, shop int64, currency string) error { // may:M
	unlock, err := r.locks.Lock(ctx, fmt.Sprintf("reprice:%d", shop), time.Minute)
	if err != nil {
		return err
	}
	defer func() {
		if err := unlock(context.WithoutCancel(ctx)); err != nil {
			slog.Warn("unlock", "shop", shop, "err", err)
		}
	}()

	rate, err := r.rates(ctx, currency)
	if err != nil {
		return fmt.Errorf("rate %s: %w", currency, err)
	}
	tag, err := r.pool.Exec(ctx, // want:C
		`UPDATE price SET local_cents = round(base_cents * $2), currency = $3 WHERE shop_id = $1`,
		shop, rate, currency)
	if err != nil {
		return err
	}
	slog.Info("repriced", "shop", shop, "rows", tag.RowsAffected())
	return nil
}
