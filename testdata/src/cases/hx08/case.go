package hx08

import (
	"context"
	"errors"
	"fmt"

	"example.com/corpus/cases/hx08/db"
)

var ErrNotOwner = errors.New("shard moved to another consumer")

// Consumer tails one shard. epoch came with the assignment.
type Consumer struct {
	q     *db.Queries
	shard int64
	epoch int64
}

type batch struct {
	last    int64
	records [][]byte
}

func (c *Consumer) verify(ctx context.Context) error {
	s, err := c.q.GetShard(ctx, c.shard)
	if err != nil {
		return err
	}
	if s.OwnerEpoch != c.epoch {
		return fmt.Errorf("shard %d: epoch %d, now %d: %w", c.shard, c.epoch, s.OwnerEpoch, ErrNotOwner)
	}
	return nil
}

func (c *Consumer) checkpoint(ctx context.Context, pos int64) error {
	if err := c.verify(ctx); err != nil {
		return err
	}
	return c.q.SetPosition(ctx, db.SetPositionParams{ID: c.shard, Position: pos}) // want:C|L|W
}

func (c *Consumer) Run(ctx context.Context, in <-chan batch, handle func([]byte) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case b, ok := <-in:
			if !ok {
				return nil
			}
			for _, r := range b.records {
				if err := handle(r); err != nil {
					return err
				}
			}
			if err := c.checkpoint(ctx, b.last); err != nil { // may:C
				return err
			}
		}
	}
}
