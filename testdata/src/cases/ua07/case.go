// Package ua07 settles merchants once a night.
package ua07

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

const settleKey int64 = 0x5e771e

type Settler struct {
	db *sql.DB
}

type merchant struct {
	id      int64
	pending int64
}

// Run holds a session advisory lock on a connection of its own so that only
// one instance settles.
func (s *Settler) Run(ctx context.Context) (err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()

	var got bool
	if err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, settleKey).Scan(&got); err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	if !got {
		return nil
	}
	defer func() {
		_, uerr := conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, settleKey)
		err = errors.Join(err, uerr)
	}()

	list, err := s.open(ctx)
	if err != nil {
		return err
	}
	for _, m := range list {
		if err := s.settle(ctx, m); err != nil {
			return fmt.Errorf("merchant %d: %w", m.id, err)
		}
	}
	return nil
}

func (s *Settler) open(ctx context.Context) ([]merchant, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT merchant_id, pending FROM merchant_balance WHERE pending <> 0`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []merchant
	for rows.Next() {
		var m merchant
		if err := rows.Scan(&m.id, &m.pending); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, rows.Err()
}

func (s *Settler) settle(ctx context.Context, m merchant) error {
	var fee int64
	if err := s.db.QueryRowContext(ctx, `SELECT fee_bps FROM merchant WHERE id = $1`, m.id).Scan(&fee); err != nil {
		return err
	}
	net := m.pending - m.pending*fee/10_000
	_, err := s.db.ExecContext(ctx, // want:C
		`UPDATE merchant_balance SET available = available + $2, pending = pending - $3 WHERE merchant_id = $1`,
		m.id, net, m.pending)
	return err
}
