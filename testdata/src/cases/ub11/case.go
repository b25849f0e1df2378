package ub11

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/corpus/cases/ub11/election"
)

// Dunning raises the reminder level of overdue invoices, on the leader only.
type Dunning struct {
	pool *pgxpool.Pool
	el   *election.Elector
}

func (d *Dunning) Run(ctx context.Context) {
	go d.el.Run(ctx)
	t := time.NewTicker(10 * time.Minute)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if !d.el.IsLeader() {
				continue
			}
			if err := d.round(ctx); err != nil {
				slog.Error("dunning", "err", err)
			}
		}
	}
}

func (d *Dunning) round(ctx context.Context) error {
	rows, err := d.pool.Query(ctx, `SELECT id FROM invoice WHERE paid_at IS NULL AND due_on < current_date AND level < 3`)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := d.remind(ctx, id); err != nil {
			return fmt.Errorf("invoice %d: %w", id, err)
		}
	}
	return nil
}

func (d *Dunning) remind(ctx context.Context, id int64) error {
	_, err := d.pool.Exec(ctx, `UPDATE invoice SET level = level + 1, fee = fee + 500 WHERE id = $1`, id) // want:C
	return err
}
