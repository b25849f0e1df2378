package hn07

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type Reindexer struct{ pool *pgxpool.Pool }

// Run keeps lock and statements on one session.
func (r *Reindexer) Run(ctx context.Context, key int64, docs []string) error {
	return r.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		var ok bool
		if err := c.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, key).Scan(&ok); err != nil {
			return err
		}
		if !ok {
			return nil
		}
		defer c.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, key)
		for _, d := range docs {
			if err := r.one(ctx, c.Conn(), d); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *Reindexer) one(ctx context.Context, c *pgx.Conn, doc string) error {
	_, err := c.Exec(ctx, `UPDATE documents SET tsv = to_tsvector(body) WHERE id = $1`, doc)
	return err
}
