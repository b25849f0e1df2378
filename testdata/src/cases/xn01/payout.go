package xn01

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrTakenOver = errors.New("batch was taken over")

type Owner struct {
	pool  *pgxpool.Pool
	batch string
	epoch int64
}

type Line struct {
	Ref   string
	Cents int64
}

// owned runs fn in a transaction that keeps the owner's row share-locked: a
// takeover, which updates that row, waits for the commit.
func (o *Owner) owned(ctx context.Context, fn func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) error {
		if err := o.hold(ctx, tx); err != nil {
			return err
		}
		return fn(tx)
	})
}

func (o *Owner) hold(ctx context.Context, tx pgx.Tx) error {
	var epoch int64
	err := tx.QueryRow(ctx, `SELECT epoch FROM payout_owner WHERE batch = $1 FOR SHARE`, o.batch).Scan(&epoch)
	if err != nil {
		return err
	}
	if epoch != o.epoch {
		return ErrTakenOver
	}
	return nil
}

func (o *Owner) Add(ctx context.Context, id int64, lines []Line) error {
	return o.owned(ctx, func(tx pgx.Tx) error { return addLines(ctx, tx, id, lines) })
}

// addLines takes the caller's transaction; it looks unguarded on its own.
func addLines(ctx context.Context, tx pgx.Tx, id int64, lines []Line) error {
	var sum int64
	for _, l := range lines {
		if _, err := tx.Exec(ctx,
			`INSERT INTO payout_line (payout, ref, cents) VALUES ($1, $2, $3)`, id, l.Ref, l.Cents); err != nil {
			return err
		}
		sum += l.Cents
	}
	_, err := tx.Exec(ctx, `UPDATE payout SET cents = cents + $2 WHERE id = $1`, id, sum)
	return err
}

func (o *Owner) Seal(ctx context.Context, id int64) error {
	return o.owned(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE payout SET state = 'sealed' WHERE id = $1`, id)
		return err
	})
}
