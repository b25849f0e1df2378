package wz14

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

var ErrBusy = errors.New("tenant is recomputed elsewhere")

type Quotas struct{ db *sql.DB }

// Reserve adds to a tenant's use under a lock that ends with the transaction.
func (q *Quotas) Reserve(ctx context.Context, tenant, n int64) error {
	tx, err := q.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(41, $1)`, tenant); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	var used, allowed int64
	if err := tx.QueryRowContext(ctx, `SELECT used, allowed FROM tenant_quotas WHERE tenant = $1`, tenant).Scan(&used, &allowed); err != nil {
		return err
	}
	if used+n > allowed {
		return fmt.Errorf("tenant %d: over quota", tenant)
	}
	if _, err := tx.ExecContext(ctx, `UPDATE tenant_quotas SET used = used + $2 WHERE tenant = $1`, tenant, n); err != nil {
		return err
	}
	return tx.Commit()
}

// Recompute holds a session lock on a connection of its own while the sum is
// taken. If that connection breaks, the lock is gone and the store goes on.
func (q *Quotas) Recompute(ctx context.Context, tenant int64, sum func(context.Context, int64) (int64, error)) error {
	conn, err := q.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var got bool
	if err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock(41, $1)`, tenant).Scan(&got); err != nil { // may:M
		return fmt.Errorf("lock: %w", err)
	}
	if !got {
		return ErrBusy
	}
	defer func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock(41, $1)`, tenant)
	}()
	n, err := sum(ctx, tenant)
	if err != nil {
		return fmt.Errorf("sum: %w", err)
	}
	return q.store(ctx, tenant, n) // may:W|C
}

func (q *Quotas) store(ctx context.Context, tenant, n int64) error {
	_, err := q.db.ExecContext(ctx, `UPDATE tenant_quotas SET used = $2 WHERE tenant = $1`, tenant, n) // want:W|C
	return err
}
