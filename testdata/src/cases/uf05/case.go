package uf05

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ShardOwnershipLostError tells the history engine to unload the shard.
type ShardOwnershipLostError struct {
	Shard      int32
	Have, Want int64
}

func (e *ShardOwnershipLostError) Error() string {
	return fmt.Sprintf("shard %d: epoch %d, stored %d", e.Shard, e.Have, e.Want)
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

type ExecutionStore struct{ pool *pgxpool.Pool }

func storedEpoch(ctx context.Context, q querier, shard int32) (int64, error) {
	var epoch int64
	err := q.QueryRow(ctx, `SELECT owner_epoch FROM history_shards WHERE shard_id = $1`, shard).Scan(&epoch)
	return epoch, err
}

// UpdateExecution checks the epoch inside the transaction, but reads it
// without a row lock.
func (s *ExecutionStore) UpdateExecution(ctx context.Context, shard int32, epoch int64, run string, state []byte) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		stored, err := storedEpoch(ctx, tx, shard)
		if err != nil {
			return fmt.Errorf("read shard: %w", err)
		}
		if stored != epoch {
			return &ShardOwnershipLostError{shard, epoch, stored}
		}
		_, err = tx.Exec(ctx, `UPDATE history_executions SET state = $3 WHERE shard_id = $1 AND run_id = $2`, shard, run, state) // want:C
		return err
	})
}

// AckLevel does the same with two statements on the pool.
func (s *ExecutionStore) AckLevel(ctx context.Context, shard int32, epoch, level int64) error {
	stored, err := storedEpoch(ctx, s.pool, shard)
	if err != nil {
		return err
	}
	if stored > epoch {
		return &ShardOwnershipLostError{shard, epoch, stored}
	}
	tag, err := s.pool.Exec(ctx, `UPDATE history_shards SET ack_level = $2 WHERE shard_id = $1`, shard, level) // want:C
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("shard %d does not exist", shard)
	}
	return nil
}
