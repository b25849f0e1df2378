package mn05

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// ConditionFailedError is the same as in stores with conditional writes.
type ConditionFailedError struct{ Have, Stored int64 }

func (e *ConditionFailedError) Error() string {
	return fmt.Sprintf("range %d, stored %d", e.Have, e.Stored)
}

// ShardStore compares in Go, under a row lock that lasts to the commit.
type ShardStore struct{ db *sqlx.DB }

func (s *ShardStore) txn(ctx context.Context, shard int, epoch int64, fn func(*sqlx.Tx) error) error {
	tx, err := s.db.BeginTxx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	var stored int64
	err = tx.GetContext(ctx, &stored, `SELECT lease_epoch FROM queue_shards WHERE shard = ? FOR UPDATE`, shard)
	if err != nil {
		return fmt.Errorf("lock shard %d: %w", shard, err)
	}
	if stored != epoch {
		return &ConditionFailedError{epoch, stored}
	}
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *ShardStore) Ack(ctx context.Context, shard int, epoch, level int64) error {
	return s.txn(ctx, shard, epoch, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE queue_shards SET ack = ? WHERE shard = ?`, level, shard)
		return err
	})
}

func (s *ShardStore) Timer(ctx context.Context, shard int, epoch int64, id string, body []byte) error {
	return s.txn(ctx, shard, epoch, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE queue_timers SET body = ? WHERE shard = ? AND id = ?`, body, shard, id)
		return err
	})
}
