package wz21

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrDeposed = errors.New("venue is sold by another node")

var serial = pgx.TxOptions{IsoLevel: pgx.Serializable}

// Seller sells the seats of one venue. All its transactions are serializable:
// the plain read of the lease conflicts with a takeover, no lock is needed.
type Seller struct {
	pool  *pgxpool.Pool
	venue string
	epoch int64
}

// retry runs fn again while the database reports a serialization failure.
func retry[T any](ctx context.Context, s *Seller, fn func(pgx.Tx) (T, error)) (out T, err error) {
	for range 5 {
		err = pgx.BeginTxFunc(ctx, s.pool, serial, func(tx pgx.Tx) error {
			var epoch int64
			err := tx.QueryRow(ctx, `SELECT epoch FROM venue_leases WHERE venue = $1`, s.venue).Scan(&epoch)
			if err != nil {
				return fmt.Errorf("lease: %w", err)
			}
			if epoch != s.epoch {
				return ErrDeposed
			}
			out, err = fn(tx)
			return err
		})
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != "40001" {
			return out, err
		}
	}
	return out, err
}

func (s *Seller) Hold(ctx context.Context, buyer int64, seats []string) (int, error) {
	return retry(ctx, s, func(tx pgx.Tx) (int, error) {
		tag, err := tx.Exec(ctx, `UPDATE seat_holds SET buyer = $3
			WHERE venue = $1 AND seat = ANY($2) AND buyer IS NULL`, s.venue, seats, buyer)
		if err != nil {
			return 0, err
		}
		if int(tag.RowsAffected()) != len(seats) {
			return 0, fmt.Errorf("%d of %d seats are free", tag.RowsAffected(), len(seats))
		}
		return len(seats), nil
	})
}

func (s *Seller) Free(ctx context.Context, buyer int64) (int64, error) {
	return retry(ctx, s, func(tx pgx.Tx) (int64, error) {
		tag, err := tx.Exec(ctx, `UPDATE seat_holds SET buyer = NULL WHERE venue = $1 AND buyer = $2`, s.venue, buyer)
		return tag.RowsAffected(), err
	})
}
