package wn04

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/jmoiron/sqlx"
)

var ErrConflict = errors.New("cart was changed by somebody else")

type Cart struct {
	ID       string `db:"id"`
	Customer string `db:"customer_id"`
	Total    int64  `db:"total_cents"`
	State    string `db:"state"`
	Version  int64  `db:"version"`
}

// Checkout takes a mutex to avoid useless work; what keeps carts right is the
// version in the WHERE clause.
type Checkout struct {
	db *sqlx.DB
	rs *redsync.Redsync
}

func (c *Checkout) Place(ctx context.Context, id string, price func(context.Context, *Cart) (int64, error)) error {
	m := c.rs.NewMutex("cart:"+id, redsync.WithExpiry(10*time.Second), redsync.WithTries(1)) // may:M
	if err := m.TryLockContext(ctx); err != nil {                                            // may:M
		return fmt.Errorf("cart is busy: %w", err)
	}
	defer func() { _, _ = m.UnlockContext(context.WithoutCancel(ctx)) }()

	var cart Cart
	if err := c.db.GetContext(ctx, &cart, `SELECT id, customer_id, total_cents, state, version FROM carts WHERE id = $1`, id); err != nil {
		return err
	}
	if cart.State != "open" {
		return ErrConflict
	}
	total, err := price(ctx, &cart)
	if err != nil {
		return err
	}
	cart.Total, cart.State = total, "placed"
	return c.save(ctx, &cart)
}

func (c *Checkout) save(ctx context.Context, cart *Cart) error {
	res, err := c.db.NamedExecContext(ctx, `
		UPDATE carts SET total_cents = :total_cents, state = :state, version = version + 1
		WHERE id = :id AND version = :version`, cart)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n != 1 {
		return ErrConflict
	}
	cart.Version++
	return nil
}
