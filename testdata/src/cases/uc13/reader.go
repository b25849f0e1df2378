package uc13

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrSuperseded = errors.New("another reader has taken the slot")

type LSN uint64

// Reader streams changes of one replication slot and stores how far it got.
type Reader struct {
	pool  *pgxpool.Pool
	slot  string
	node  string
	epoch int64
	state struct {
		flushed LSN
		pending LSN
	}
}

// Open takes the slot over and remembers the epoch of this ownership.
func Open(ctx context.Context, pool *pgxpool.Pool, slot, node string) (*Reader, error) {
	r := &Reader{pool: pool, slot: slot, node: node}
	err := pool.QueryRow(ctx,
		`UPDATE cdc_slot SET owner = $2, epoch = epoch + 1, since = now() WHERE name = $1 RETURNING epoch`,
		slot, node).Scan(&r.epoch)
	if err != nil {
		return nil, fmt.Errorf("open slot %s: %w", slot, err)
	}
	return r, nil
}

func (r *Reader) verify(ctx context.Context) error {
	var cur int64
	if err := r.pool.QueryRow(ctx, `SELECT epoch FROM cdc_slot WHERE name = $1`, r.slot).Scan(&cur); err != nil {
		return err
	}
	switch {
	case cur > r.epoch:
		return ErrSuperseded
	case cur < r.epoch:
		return fmt.Errorf("slot %s went back from epoch %d to %d", r.slot, r.epoch, cur)
	}
	return nil
}

func (r *Reader) Advance(at LSN) { r.state.pending = max(r.state.pending, at) }

// Flush verifies that the slot is still ours and then moves the position.
func (r *Reader) Flush(ctx context.Context) error {
	if r.state.pending == r.state.flushed {
		return nil
	}
	if err := r.verify(ctx); err != nil {
		return err
	}
	at := r.state.pending
	_, err := r.pool.Exec(ctx, // want:C
		`UPDATE cdc_progress SET confirmed_lsn = $2, flushed_at = now() WHERE slot = $1`, r.slot, int64(at))
	if err != nil {
		return fmt.Errorf("store position: %w", err)
	}
	r.state.flushed = at
	return nil
}
