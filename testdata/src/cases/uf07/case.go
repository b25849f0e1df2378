package uf07

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/client-go/tools/leaderelection"
)

type usage struct {
	tenant string
	bytes  int64
}

// QuotaController sums up volume sizes and stores the total; every replica
// runs the loop, the elected one acts.
type QuotaController struct {
	db      *sql.DB
	elector *leaderelection.LeaderElector
	measure func(ctx context.Context, tenant string) (int64, error)
	every   time.Duration
}

func (q *QuotaController) Start(ctx context.Context) error {
	t := time.NewTicker(q.every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			if err := q.reconcile(ctx); err != nil {
				slog.ErrorContext(ctx, "reconcile quotas", "err", err)
			}
		}
	}
}

func (q *QuotaController) tenants(ctx context.Context) ([]string, error) {
	rows, err := q.db.QueryContext(ctx, `SELECT tenant FROM tenant_quotas ORDER BY tenant`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

func (q *QuotaController) reconcile(ctx context.Context) error {
	if !q.elector.IsLeader() {
		return nil
	}
	names, err := q.tenants(ctx)
	if err != nil {
		return err
	}
	for _, n := range names {
		b, err := q.measure(ctx, n)
		if err != nil {
			return fmt.Errorf("measure %s: %w", n, err)
		}
		u := usage{n, b}
		_, err = q.db.ExecContext(ctx, `UPDATE tenant_quotas SET used_bytes = $2, blocked = $2 > hard_limit WHERE tenant = $1`, u.tenant, u.bytes) // want:C
		if err != nil {
			return fmt.Errorf("store %s: %w", n, err)
		}
	}
	return nil
}
