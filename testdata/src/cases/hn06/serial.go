package hn06

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var errMoved = errors.New("partition moved")

type Sink struct {
	pool *pgxpool.Pool
	node string
	gen  int64
}

func (s *Sink) Flush(ctx context.Context, part int, rows map[string]int64) error {
	opts := pgx.TxOptions{IsoLevel: pgx.Serializable}
	return pgx.BeginTxFunc(ctx, s.pool, opts, func(tx pgx.Tx) error {
		var owner string
		var gen int64
		if err := tx.QueryRow(ctx, `SELECT owner, generation FROM partitions WHERE id = $1`, part).Scan(&owner, &gen); err != nil {
			return err
		}
		if owner != s.node || gen != s.gen {
			return errMoved
		}
		for k, v := range rows {
			if _, err := tx.Exec(ctx, `UPDATE counters SET n = n + $2 WHERE key = $1`, k, v); err != nil {
				return err
			}
		}
		return nil
	})
}
