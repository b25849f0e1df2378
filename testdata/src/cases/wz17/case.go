package wz17

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

var ErrTurn = errors.New("payouts of this currency have another leader")

type Item struct{ Account, Cents int64 }

type Payouts struct {
	db       *sql.DB
	currency string
	turn     int64
}

// guarded runs fn in a transaction that holds the lock row at our turn.
func (p *Payouts) guarded(ctx context.Context, fn func(tx *sql.Tx) error) error {
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var turn int64
	err = tx.QueryRowContext(ctx, "SELECT turn FROM payout_lock WHERE currency = ? FOR UPDATE", p.currency).Scan(&turn)
	if err != nil {
		return fmt.Errorf("lock %s: %w", p.currency, err)
	}
	if turn != p.turn {
		return ErrTurn
	}
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (p *Payouts) Open(ctx context.Context) (id int64, err error) {
	err = p.guarded(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "INSERT INTO payout_batches (currency) VALUES (?)", p.currency)
		if err != nil {
			return err
		}
		id, err = res.LastInsertId()
		return err
	})
	return id, err
}

// Fill looks guarded, but the rows are written through the pool.
func (p *Payouts) Fill(ctx context.Context, batch int64, items []Item) error {
	return p.guarded(ctx, func(tx *sql.Tx) error {
		var closed bool
		if err := tx.QueryRowContext(ctx, "SELECT closed FROM payout_batches WHERE id = ?", batch).Scan(&closed); err != nil {
			return err
		}
		if closed {
			return fmt.Errorf("batch %d is closed", batch)
		}
		return p.insert(ctx, batch, items) // may:W
	})
}

func (p *Payouts) insert(ctx context.Context, batch int64, items []Item) error {
	args := make([]any, 0, 3*len(items))
	for _, it := range items {
		args = append(args, batch, it.Account, it.Cents)
	}
	values := strings.TrimSuffix(strings.Repeat("(?, ?, ?), ", len(items)), ", ")
	_, err := p.db.ExecContext(ctx, "INSERT INTO payout_items (batch_id, account, cents) VALUES "+values, args...) // want:W
	return err
}

func (p *Payouts) Close(ctx context.Context, batch int64) error {
	return p.guarded(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE payout_batches SET closed = 1 WHERE id = ? AND currency = ?", batch, p.currency)
		return err
	})
}
