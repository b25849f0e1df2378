package wz13

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrNotOwner = errors.New("cell is scheduled by another replica")

type Move struct{ VM, Host string }

type Scheduler struct {
	pool  *pgxpool.Pool
	cell  string
	epoch int64
}

// Rebalance moves machines in one transaction under the lease row.
func (s *Scheduler) Rebalance(ctx context.Context, moves []Move) error {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if err := s.assertOwner(ctx, tx); err != nil {
		return err
	}
	if err := s.moveAll(ctx, tx, moves); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// assertOwner takes the lock that a foreign key check takes. An UPDATE of the
// epoch, which is not part of a key, does not wait for it.
func (s *Scheduler) assertOwner(ctx context.Context, tx pgx.Tx) error { // may:W
	var epoch int64
	err := tx.QueryRow(ctx, `SELECT epoch FROM cell_leases WHERE cell = $1 FOR KEY SHARE`, s.cell).Scan(&epoch)
	if err != nil {
		return fmt.Errorf("read lease of %s: %w", s.cell, err)
	}
	if epoch != s.epoch {
		return ErrNotOwner
	}
	return nil
}

func (s *Scheduler) moveAll(ctx context.Context, tx pgx.Tx, moves []Move) error {
	for i, m := range moves {
		if err := s.place(ctx, tx, m); err != nil { // may:W
			return fmt.Errorf("move %d of %d: %w", i+1, len(moves), err)
		}
	}
	return nil
}

func (s *Scheduler) place(ctx context.Context, tx pgx.Tx, m Move) error {
	_, err := tx.Exec(ctx, `UPDATE vm_placements SET host = $3 WHERE vm = $1 AND cell = $2`, m.VM, s.cell, m.Host) // want:W|C
	return err
}
