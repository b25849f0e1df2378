package uf37

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrStale = errors.New("a newer consumer owns the partition")

// Offsets remembers how far a partition was read; every assignment of the
// partition has a higher number than the one before.
type Offsets struct{ pool *pgxpool.Pool }

// Advance is accepted only from the newest assignment.
func (o *Offsets) Advance(ctx context.Context, topic string, part int32, assignment, offset int64) error {
	tag, err := o.pool.Exec(ctx, `
		UPDATE stream_offsets SET next_offset = $4, fence = $3
		WHERE topic = $1 AND part = $2 AND fence <= $3`, topic, part, assignment, offset)
	if err != nil {
		return fmt.Errorf("advance %s/%d: %w", topic, part, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrStale
	}
	return nil
}

// Reset is used after a seek; the update arm takes what comes.
func (o *Offsets) Reset(ctx context.Context, topic string, part int32, offset int64) error {
	_, err := o.pool.Exec(ctx, // want:W
		`INSERT INTO stream_offsets (topic, part, next_offset) VALUES ($1, $2, $3)
		 ON CONFLICT (topic, part) DO UPDATE SET next_offset = EXCLUDED.next_offset`, topic, part, offset)
	if err != nil {
		return fmt.Errorf("reset %s/%d: %w", topic, part, err)
	}
	return nil
}

// Forget drops partitions of a topic in one batch.
func (o *Offsets) Forget(ctx context.Context, topic string, parts []int32) error {
	return pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) error {
		for _, p := range parts {
			if _, err := tx.Exec(ctx, `DELETE FROM stream_offsets WHERE topic = $1 AND part = $2`, topic, p); err != nil { // want:W
				return fmt.Errorf("forget %s/%d: %w", topic, p, err)
			}
		}
		return nil
	})
}
