package xn08

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"
)

var ErrStale = errors.New("warehouse has a newer planner")

type Planner struct {
	db    *sqlx.DB
	token int64
}

// announce gives the token to the triggers of the schema for one transaction.
func (p *Planner) announce(ctx context.Context, fn func(*sqlx.Tx) error) error {
	tx, err := p.db.BeginTxx(ctx, &sql.TxOptions{})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx,
		`SELECT set_config('stock.token', $1, true)`, strconv.FormatInt(p.token, 10)); err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		var pe *pgconn.PgError
		if errors.As(err, &pe) && pe.Code == "ZF001" {
			return ErrStale
		}
		return err
	}
	return tx.Commit()
}

func (p *Planner) Add(ctx context.Context, sku string, delta int64) error {
	return p.announce(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE stock_level SET qty = qty + $2 WHERE sku = $1`, sku, delta)
		return err
	})
}

func (p *Planner) Drop(ctx context.Context, sku string) error {
	return p.announce(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM stock_level WHERE sku = $1`, sku)
		return err
	})
}

func (p *Planner) Confirm(ctx context.Context, move int64) error {
	return p.announce(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.NamedExecContext(ctx, `UPDATE stock_move SET state = 'done' WHERE id = :id`,
			map[string]any{"id": move})
		return err
	})
}
