package ud07

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// ShardOwnershipLost tells the history engine to unload the shard.
type ShardOwnershipLost struct {
	ShardID       int32
	Want, RangeID int64
}

func (e *ShardOwnershipLost) Error() string {
	return fmt.Sprintf("shard %d: range id %d, store has %d", e.ShardID, e.Want, e.RangeID)
}

type execRow struct {
	ShardID    int32  `db:"shard_id"`
	WorkflowID string `db:"workflow_id"`
	Data       []byte `db:"data"`
}

type ExecutionStore struct{ db *sqlx.DB }

func (s *ExecutionStore) withTx(ctx context.Context, fn func(tx *sqlx.Tx) error) error {
	tx, err := s.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

// readShard takes no lock on the row.
func readShard(ctx context.Context, tx *sqlx.Tx, shard int32) (int64, error) {
	var rangeID int64
	err := tx.GetContext(ctx, &rangeID, `SELECT range_id FROM shards WHERE shard_id = $1`, shard)
	if err == sql.ErrNoRows {
		return 0, fmt.Errorf("shard %d does not exist", shard)
	}
	return rangeID, err
}

// UpdateExecution stores mutable state if this host still owns the shard.
func (s *ExecutionStore) UpdateExecution(ctx context.Context, rangeID int64, row execRow) error {
	return s.withTx(ctx, func(tx *sqlx.Tx) error {
		cur, err := readShard(ctx, tx, row.ShardID)
		if err != nil {
			return err
		}
		if cur != rangeID {
			return &ShardOwnershipLost{ShardID: row.ShardID, Want: rangeID, RangeID: cur}
		}
		_, err = tx.NamedExecContext(ctx, // want:C|W
			`UPDATE executions SET data = :data WHERE shard_id = :shard_id AND workflow_id = :workflow_id`, row)
		return err
	})
}
