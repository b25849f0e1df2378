package xn04

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrFenced = errors.New("shard has a newer consumer")

// held yields the shard's row only while the epoch is ours, and keeps it
// locked for the statement that reads from it.
const held = `WITH held AS (
    SELECT shard FROM sensor_shard WHERE shard = $1 AND epoch = $2 FOR SHARE
) `

// moved advances the position under the epoch and feeds what follows.
const moved = `WITH moved AS (
    UPDATE sensor_shard SET position = $3 WHERE shard = $1 AND epoch = $2 AND position < $3
    RETURNING shard
) `

type Consumer struct {
	pool  *pgxpool.Pool
	shard int
	epoch int64
}

func rows(tag pgconn.CommandTag, err error) error {
	if err == nil && tag.RowsAffected() == 0 {
		return ErrFenced
	}
	return err
}

// Emit stores a window together with the position it was computed at.
func (c *Consumer) Emit(ctx context.Context, pos int64, start time.Time, mean float64) error {
	return rows(c.pool.Exec(ctx, moved+`
		INSERT INTO sensor_window (shard, start, mean)
		SELECT m.shard, $4, $5 FROM moved m
		ON CONFLICT (shard, start) DO UPDATE SET mean = EXCLUDED.mean`,
		c.shard, c.epoch, pos, start, mean))
}

// Amend rewrites a window that late events have changed.
func (c *Consumer) Amend(ctx context.Context, start time.Time, mean float64) error {
	return rows(c.pool.Exec(ctx, held+`
		UPDATE sensor_window w SET mean = $4 FROM held WHERE w.shard = held.shard AND w.start = $3`,
		c.shard, c.epoch, start, mean))
}
