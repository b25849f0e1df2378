package ua01

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type meter struct {
	pool  *pgxpool.Pool
	every time.Duration
	log   *slog.Logger
}

type total struct {
	Tenant string
	Units  int64
}

func (m *meter) run(ctx context.Context) {
	t := time.NewTicker(m.every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		day, err := m.pending(ctx)
		if errors.Is(err, pgx.ErrNoRows) {
			continue
		}
		if err != nil {
			m.log.Error("pending day", "err", err)
			continue
		}
		if err := m.rollup(ctx, day); err != nil {
			m.log.Error("rollup", "day", day, "err", err)
		}
	}
}

func (m *meter) pending(ctx context.Context) (day time.Time, err error) {
	err = m.pool.QueryRow(ctx, `SELECT day + 1 FROM usage_watermark WHERE name = 'rollup' AND day < current_date - 1`).Scan(&day)
	return day, err
}

func (m *meter) rollup(ctx context.Context, day time.Time) error {
	rows, err := m.pool.Query(ctx, `
		SELECT tenant, sum(units) FROM usage_event
		WHERE at >= $1 AND at < $1 + interval '1 day' GROUP BY tenant`, day)
	if err != nil {
		return fmt.Errorf("sum: %w", err)
	}
	totals, err := pgx.CollectRows(rows, pgx.RowToStructByPos[total])
	if err != nil {
		return fmt.Errorf("sum: %w", err)
	}
	for _, t := range totals {
		_, err := m.pool.Exec(ctx, `
			INSERT INTO usage_daily (tenant, day, units) VALUES ($1, $2, $3)
			ON CONFLICT (tenant, day) DO UPDATE SET units = EXCLUDED.units`, t.Tenant, day, t.Units) // want:C
		if err != nil {
			return fmt.Errorf("tenant %s: %w", t.Tenant, err)
		}
	}
	_, err = m.pool.Exec(ctx, `UPDATE usage_watermark SET day = $1 WHERE name = 'rollup'`, day) // want:C
	return err
}
