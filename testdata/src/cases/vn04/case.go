package vn04

import (
	"context"
	"fmt"
	"hash/crc32"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Ledger allocates invoice numbers without gaps: one transaction per tenant at
// a time, the lock goes with the transaction.
type Ledger struct{ pool *pgxpool.Pool }

func lockTenant(ctx context.Context, tx pgx.Tx, tenant string) error {
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1, $2)`, int32(7101), int32(crc32.ChecksumIEEE([]byte(tenant))))
	return err
}

func (l *Ledger) Issue(ctx context.Context, tenant string, cents int64) (no int64, err error) {
	err = pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) error {
		if err := lockTenant(ctx, tx, tenant); err != nil {
			return fmt.Errorf("lock %s: %w", tenant, err)
		}
		if err := tx.QueryRow(ctx, `SELECT coalesce(max(no), 0) + 1 FROM invoice WHERE tenant = $1`, tenant).Scan(&no); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO invoice (tenant, no, cents) VALUES ($1, $2, $3)`, tenant, no, cents); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE tenant SET last_invoice = $2 WHERE name = $1`, tenant, no)
		return err
	})
	return no, err
}

// Close runs once a month from whichever replica comes first; the others find
// the lock taken and go home.
func (l *Ledger) Close(ctx context.Context, tenant, month string) error {
	tx, err := l.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	var ok bool
	if err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock(hashtext($1))`, tenant+month).Scan(&ok); err != nil {
		return err
	}
	if !ok {
		return nil
	}
	if _, err := tx.Exec(ctx, `UPDATE period SET closed = true WHERE tenant = $1 AND month = $2`, tenant, month); err != nil {
		return err
	}
	return tx.Commit(ctx)
}
