package ue09

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ShardOwnershipLost tells the engine to unload the shard.
type ShardOwnershipLost struct {
	Shard      int32
	Have, Want int64
}

func (e *ShardOwnershipLost) Error() string {
	return fmt.Sprintf("shard %d: range id is %d, not %d", e.Shard, e.Want, e.Have)
}

// shardContext is loaded when this host acquires a shard; rangeID is the value
// the acquisition wrote.
type shardContext struct {
	mu      sync.Mutex
	pool    *pgxpool.Pool
	id      int32
	rangeID int64
}

// acquire bumps the range id, which invalidates every earlier owner.
func acquire(ctx context.Context, pool *pgxpool.Pool, id int32, host string) (*shardContext, error) {
	s := &shardContext{pool: pool, id: id}
	err := pool.QueryRow(ctx,
		`UPDATE shard SET range_id = range_id + 1, owner = $2 WHERE shard_id = $1 RETURNING range_id`, id, host).Scan(&s.rangeID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("shard %d does not exist", id)
	}
	return s, err
}

func (s *shardContext) assertOwner(ctx context.Context, tx pgx.Tx) error {
	var cur int64
	if err := tx.QueryRow(ctx, `SELECT range_id FROM shard WHERE shard_id = $1`, s.id).Scan(&cur); err != nil {
		return err
	}
	if cur != s.rangeID {
		return &ShardOwnershipLost{Shard: s.id, Have: s.rangeID, Want: cur}
	}
	return nil
}

// AppendTask and the ack level move together.
func (s *shardContext) AppendTask(ctx context.Context, taskID int64, blob []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := s.assertOwner(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO transfer_task (shard_id, task_id, blob) VALUES ($1, $2, $3)`, s.id, taskID, blob); err != nil { // may:C|W
			return fmt.Errorf("insert task %d: %w", taskID, err)
		}
		_, err := tx.Exec(ctx, `UPDATE shard SET max_read_level = $2 WHERE shard_id = $1`, s.id, taskID) // want:C|W
		return err
	})
}
