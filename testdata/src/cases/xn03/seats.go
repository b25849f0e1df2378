package xn03

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrLeaseGone = errors.New("venue is sold by another box office")

type Office struct {
	pool  *pgxpool.Pool
	venue int64
	term  int64
}

// serializable retries serialization failures. The lease is read without a
// lock: PostgreSQL aborts one of two transactions that could not have run one
// after the other.
func (o *Office) serializable(ctx context.Context, fn func(pgx.Tx) error) error {
	var err error
	for range 5 {
		err = pgx.BeginTxFunc(ctx, o.pool, pgx.TxOptions{IsoLevel: pgx.Serializable}, func(tx pgx.Tx) error {
			var term int64
			if err := tx.QueryRow(ctx, `SELECT term FROM venue_lease WHERE venue = $1`, o.venue).Scan(&term); err != nil {
				return err
			}
			if term != o.term {
				return ErrLeaseGone
			}
			return fn(tx)
		})
		var pe *pgconn.PgError
		if !errors.As(err, &pe) || pe.Code != "40001" {
			return err
		}
	}
	return err
}

func (o *Office) Sell(ctx context.Context, seat string) error {
	return o.serializable(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx,
			`UPDATE seat_map SET taken = true WHERE venue = $1 AND seat = $2`, o.venue, seat); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO seat_order (venue, seat) VALUES ($1, $2)`, o.venue, seat)
		return err
	})
}

func (o *Office) Release(ctx context.Context, seat string) error {
	return o.serializable(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE seat_map SET taken = false WHERE venue = $1 AND seat = $2`, o.venue, seat)
		return err
	})
}
