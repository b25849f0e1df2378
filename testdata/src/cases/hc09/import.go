package hc09

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type Loader struct {
	pool *pgxpool.Pool
}

func lockID(s string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return int64(h.Sum64())
}

func (l *Loader) withAdvisory(ctx context.Context, name string, work func() error) error {
	c, err := l.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	if _, err := c.Exec(ctx, `SELECT pg_advisory_lock($1)`, lockID(name)); err != nil {
		return fmt.Errorf("advisory lock: %w", err)
	}
	defer func() { _, _ = c.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, lockID(name)) }()
	return work()
}

func (l *Loader) Replace(ctx context.Context, tenant string, prices [][]any) error {
	return l.withAdvisory(ctx, "prices:"+tenant, func() error {
		if _, err := l.pool.Exec(ctx, `DELETE FROM price_list WHERE tenant = $1`, tenant); err != nil { // want:C
			return err
		}
		_, err := l.pool.CopyFrom(ctx, pgx.Identifier{"price_list"}, []string{"tenant", "sku", "cents"}, pgx.CopyFromRows(prices)) // may:C
		return err
	})
}
