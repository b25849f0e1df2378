package vn20

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Planner looks in Go whether it owns the region, but in a serializable
// transaction: a take-over in between makes the commit fail.
type Planner struct {
	pool  *pgxpool.Pool
	claim string // new for every claim of the region
}

var serializable = pgx.TxOptions{IsoLevel: pgx.Serializable}

var ErrNotOwner = errors.New("region belongs to another planner")

func (p *Planner) Claim(ctx context.Context, region string) error {
	claim := uuid.NewString()
	err := pgx.BeginTxFunc(ctx, p.pool, serializable, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE region SET claim = $2, claimed_until = now() + interval '1 minute'
			WHERE name = $1 AND (claim IS NULL OR claimed_until < now())`, region, claim)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return ErrNotOwner
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.claim = claim
	return nil
}

func (p *Planner) Place(ctx context.Context, region, vm, host string) error {
	for try := 0; ; try++ {
		err := pgx.BeginTxFunc(ctx, p.pool, serializable, func(tx pgx.Tx) error {
			var cur string
			if err := tx.QueryRow(ctx, `SELECT claim FROM region WHERE name = $1`, region).Scan(&cur); err != nil {
				return err
			}
			if cur != p.claim {
				return ErrNotOwner
			}
			_, err := tx.Exec(ctx, `UPDATE vm SET host = $2 WHERE id = $1`, vm, host)
			return err
		})
		var pe *pgconn.PgError
		if errors.As(err, &pe) && pe.Code == "40001" && try < 3 {
			continue
		}
		if err != nil {
			return fmt.Errorf("place %s: %w", vm, err)
		}
		return nil
	}
}
