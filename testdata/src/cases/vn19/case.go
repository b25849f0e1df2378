package vn19

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Shard is owned under a range id. Each write transaction locks the shard row
// first and compares; a new owner has to wait for it or makes it fail.
type Shard struct {
	db      *sql.DB
	id      int
	rangeID int64
}

var ErrOwnershipLost = errors.New("shard ownership lost")

func Acquire(ctx context.Context, db *sql.DB, id int) (*Shard, error) {
	s := &Shard{db: db, id: id}
	err := db.QueryRowContext(ctx, `UPDATE shard SET range_id = range_id + 1 WHERE id = $1 RETURNING range_id`, id).Scan(&s.rangeID)
	if err != nil {
		return nil, fmt.Errorf("shard %d: %w", id, err)
	}
	return s, nil
}

func (s *Shard) lock(ctx context.Context, tx *sql.Tx) error {
	var cur int64
	if err := tx.QueryRowContext(ctx, `SELECT range_id FROM shard WHERE id = $1 FOR UPDATE`, s.id).Scan(&cur); err != nil {
		return err
	}
	if cur != s.rangeID {
		return fmt.Errorf("%w: range %d, ours %d", ErrOwnershipLost, cur, s.rangeID)
	}
	return nil
}

func (s *Shard) update(ctx context.Context, fn func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := s.lock(ctx, tx); err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Advance moves a workflow forward.
func (s *Shard) Advance(ctx context.Context, run string, state []byte, timers []int64) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE workflow SET state = $3 WHERE shard = $1 AND run = $2`, s.id, run, state); err != nil {
			return err
		}
		for _, at := range timers {
			if _, err := tx.ExecContext(ctx, `INSERT INTO timer (shard, run, fire_at) VALUES ($1, $2, to_timestamp($3))`, s.id, run, at); err != nil {
				return err
			}
		}
		return nil
	})
}
