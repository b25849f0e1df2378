package hn51

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/corpus/cases/hn51/q"
)

var ErrStale = errors.New("stale epoch")

type Svc struct {
	pool *pgxpool.Pool
	q    *q.Queries
}

// Set compares under a row lock through generated code, with manual Begin.
func (s *Svc) Set(ctx context.Context, name string, epoch, value int64) error {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{})
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)
	qtx := s.q.WithTx(tx)
	l, err := qtx.GetLeaseForUpdate(ctx, name)
	if err != nil {
		return err
	}
	if l.Epoch != epoch {
		return ErrStale
	}
	if err := qtx.SetTarget(ctx, q.SetTargetParams{Name: name, Value: value}); err != nil {
		return err
	}
	return tx.Commit(ctx)
}
