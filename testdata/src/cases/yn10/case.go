package yn10

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

var ErrShardMoved = errors.New("shard moved to another host")

// Store locks the shard's row, compares its epoch in Go and writes in the same
// transaction: a later owner has to wait for the commit.
type Store struct{ db *sql.DB }

func (s *Store) lockShard(ctx context.Context, tx *sql.Tx, shard int, epoch int64) error {
	var cur int64
	err := tx.QueryRowContext(ctx, `SELECT epoch FROM shards WHERE id = $1 FOR UPDATE`, shard).Scan(&cur)
	if err != nil {
		return fmt.Errorf("lock shard %d: %w", shard, err)
	}
	if cur != epoch {
		return ErrShardMoved
	}
	return nil
}

func (s *Store) AppendTasks(ctx context.Context, shard int, epoch int64, ack int64, tasks map[int64][]byte) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := s.lockShard(ctx, tx, shard, epoch); err != nil {
		return err
	}
	for id, body := range tasks {
		_, err := tx.ExecContext(ctx, `INSERT INTO transfer_tasks (shard_id, task_id, body) VALUES ($1, $2, $3)`, shard, id, body)
		if err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM transfer_tasks WHERE shard_id = $1 AND task_id <= $2`, shard, ack)
	if err != nil {
		return err
	}
	return tx.Commit()
}
