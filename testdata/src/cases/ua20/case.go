// Package ua20 re-prices the catalogue. The lock is a row in a table.
package ua20

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
)

var ErrRunning = errors.New("repricing is already running")

type Repricer struct {
	db    *sql.DB
	owner string
}

func (r *Repricer) acquire(ctx context.Context, name string) error {
	// left behind by a crash
	if _, err := r.db.ExecContext(ctx,
		`DELETE FROM cluster_locks WHERE name = $1 AND taken_at < now() - interval '10 minutes'`, name); err != nil {
		return err
	}
	res, err := r.db.ExecContext(ctx,
		`INSERT INTO cluster_locks (name, owner, taken_at) VALUES ($1, $2, now()) ON CONFLICT (name) DO NOTHING`, name, r.owner)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrRunning
	}
	return nil
}

// Reprice applies the rules of a season to all plans.
func (r *Repricer) Reprice(ctx context.Context, season string, price func(sku string, cost int64) int64) error {
	if err := r.acquire(ctx, "reprice"); err != nil {
		return err
	}
	defer func() {
		if _, err := r.db.ExecContext(context.WithoutCancel(ctx), `DELETE FROM cluster_locks WHERE name = $1`, "reprice"); err != nil { // want:C
			slog.Warn("release", "err", err)
		}
	}()

	rows, err := r.db.QueryContext(ctx, `SELECT sku, cost FROM plan_cost WHERE season = $1`, season)
	if err != nil {
		return err
	}
	defer rows.Close()
	costs := map[string]int64{}
	for rows.Next() {
		var sku string
		var c int64
		if err := rows.Scan(&sku, &c); err != nil {
			return err
		}
		costs[sku] = c
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for sku, c := range costs {
		if _, err := r.db.ExecContext(ctx, `UPDATE plan_price SET cents = $2, season = $3 WHERE sku = $1`, sku, price(sku, c), season); err != nil { // want:C
			return fmt.Errorf("sku %s: %w", sku, err)
		}
	}
	return nil
}
