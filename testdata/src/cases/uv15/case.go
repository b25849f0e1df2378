package uv15

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// ShardOwnershipLost tells the engine to unload the shard.
type ShardOwnershipLost struct{ Shard, Mine, Stored int64 }

func (e *ShardOwnershipLost) Error() string {
	return fmt.Sprintf("shard %d: range id is %d, not %d", e.Shard, e.Stored, e.Mine)
}

// ExecutionStore writes workflow executions of the shards this host acquired.
type ExecutionStore struct{ db *sql.DB }

type Execution struct {
	Shard      int64
	WorkflowID string
	RunID      string
	State      []byte
	NextEvent  int64
}

func (s *ExecutionStore) inTx(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// checkRange reads the range id as it is now; nothing keeps it that way until
// the transaction commits.
func checkRange(ctx context.Context, tx *sql.Tx, shard, rangeID int64) error {
	var stored int64
	err := tx.QueryRowContext(ctx, `SELECT range_id FROM shards WHERE shard_id = $1`, shard).Scan(&stored)
	if err != nil {
		return err
	}
	if stored != rangeID {
		return &ShardOwnershipLost{Shard: shard, Mine: rangeID, Stored: stored}
	}
	return nil
}

func (s *ExecutionStore) Update(ctx context.Context, rangeID int64, e *Execution) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		if err := checkRange(ctx, tx, e.Shard, rangeID); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, // want:W|C
			`UPDATE executions SET state = $1, next_event_id = $2 WHERE shard_id = $3 AND workflow_id = $4 AND run_id = $5`,
			e.State, e.NextEvent, e.Shard, e.WorkflowID, e.RunID)
		return err
	})
}
