package wn07

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrClosed = errors.New("month is closed already")

// Closer closes accounting months. The advisory lock belongs to the
// transaction, and so do the check and the writes.
type Closer struct{ pool *pgxpool.Pool }

func lockMonth(ctx context.Context, tx pgx.Tx, tenant int32, month int32) error {
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1, $2)`, tenant, month)
	return err
}

func (c *Closer) Close(ctx context.Context, tenant, month int32) error {
	return pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		if err := lockMonth(ctx, tx, tenant, month); err != nil {
			return fmt.Errorf("lock: %w", err)
		}
		closed, err := isClosed(ctx, tx, tenant, month)
		if err != nil {
			return err
		}
		if closed {
			return ErrClosed
		}
		if _, err := tx.Exec(ctx, `
			UPDATE balances SET opening = opening + moved, moved = 0 WHERE tenant_id = $1 AND month = $2`, tenant, month); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE months SET closed_at = now() WHERE tenant_id = $1 AND month = $2`, tenant, month)
		return err
	})
}

func isClosed(ctx context.Context, tx pgx.Tx, tenant, month int32) (bool, error) {
	var closed bool
	err := tx.QueryRow(ctx, `SELECT closed_at IS NOT NULL FROM months WHERE tenant_id = $1 AND month = $2`, tenant, month).Scan(&closed)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return closed, err
}

// TryClose gives up at once when another transaction works on the tenant.
func (c *Closer) TryClose(ctx context.Context, tenant, month int32) (done bool, err error) {
	tx, err := c.pool.Begin(ctx)
	if err != nil {
		return false, err
	}
	defer tx.Rollback(ctx)
	var got bool
	if err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1, $2)`, tenant, month).Scan(&got); err != nil || !got {
		return false, err
	}
	if _, err := tx.Exec(ctx, `UPDATE months SET closed_at = now() WHERE tenant_id = $1 AND month = $2`, tenant, month); err != nil {
		return false, err
	}
	return true, tx.Commit(ctx)
}
