package mn18

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrDeposed = errors.New("a newer leader has taken over")

// Placement writes only in serializable transactions: the epoch that is read
// cannot change before the commit without one of the two being aborted.
type Placement struct{ pool *pgxpool.Pool }

func (p *Placement) serializable(ctx context.Context, fn func(pgx.Tx) error) error {
	for range 5 {
		err := pgx.BeginTxFunc(ctx, p.pool, pgx.TxOptions{IsoLevel: pgx.Serializable}, fn)
		var pe *pgconn.PgError
		if errors.As(err, &pe) && pe.Code == "40001" {
			continue
		}
		return err
	}
	return errors.New("too many conflicts")
}

func (p *Placement) Move(ctx context.Context, epoch int64, replica, node string) error {
	return p.serializable(ctx, func(tx pgx.Tx) error {
		var cur int64
		if err := tx.QueryRow(ctx, `SELECT epoch FROM placement_leader WHERE id = 1`).Scan(&cur); err != nil {
			return fmt.Errorf("read epoch: %w", err)
		}
		if cur != epoch {
			return ErrDeposed
		}
		_, err := tx.Exec(ctx, `UPDATE placement_replicas SET node = $2 WHERE replica = $1`, replica, node)
		return err
	})
}
