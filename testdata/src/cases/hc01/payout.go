// Package hc01 pays merchants out once a day.
package hc01

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bsm/redislock"
	"github.com/jackc/pgx/v5/pgxpool"
)

var errBusy = errors.New("payout already running")

type PayoutService struct {
	locker *redislock.Client
	pool   *pgxpool.Pool
}

func (s *PayoutService) Settle(ctx context.Context, merchant int64) (err error) {
	lk, err := s.locker.Obtain(ctx, fmt.Sprintf("payout:%d", merchant), 30*time.Second, nil)
	if errors.Is(err, redislock.ErrNotObtained) {
		return errBusy
	} else if err != nil {
		return fmt.Errorf("obtain: %w", err)
	}
	defer lk.Release(context.WithoutCancel(ctx))

	var due int64
	if err = s.pool.QueryRow(ctx, `SELECT balance - paid FROM merchants WHERE id = $1`, merchant).Scan(&due); err != nil {
		return fmt.Errorf("balance: %w", err)
	}
	if due <= 0 {
		return nil
	}
	if err = callBank(ctx, merchant, due); err != nil {
		return err
	}
	_, err = s.pool.Exec(ctx, `UPDATE merchants SET paid = $2 WHERE id = $1`, merchant, due) // want:C
	return err
}

func callBank(ctx context.Context, merchant, amount int64) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(amount%7) * time.Second):
		return nil
	}
}
