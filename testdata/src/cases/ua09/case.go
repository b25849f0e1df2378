// Package ua09 stores cells of key ranges. A range belongs to the node that
// raised its epoch last.
package ua09

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrMoved = errors.New("range has moved")

type Range struct {
	pool  *pgxpool.Pool
	id    int64
	epoch int64
	dirty map[string][]byte
}

// Open takes the range over from whoever had it.
func Open(ctx context.Context, pool *pgxpool.Pool, id int64, node string) (*Range, error) {
	r := &Range{pool: pool, id: id, dirty: map[string][]byte{}}
	err := pool.QueryRow(ctx,
		`UPDATE range_map SET epoch = epoch + 1, node = $2 WHERE id = $1 RETURNING epoch`, id, node).Scan(&r.epoch)
	if err != nil {
		return nil, fmt.Errorf("open range %d: %w", id, err)
	}
	return r, nil
}

func (r *Range) Set(key string, v []byte) { r.dirty[key] = v }

func (r *Range) verify(ctx context.Context) error {
	var cur int64
	if err := r.pool.QueryRow(ctx, `SELECT epoch FROM range_map WHERE id = $1`, r.id).Scan(&cur); err != nil {
		return err
	}
	if cur != r.epoch {
		return fmt.Errorf("%w: have %d, now %d", ErrMoved, r.epoch, cur)
	}
	return nil
}

// Flush writes what was set since the last flush.
func (r *Range) Flush(ctx context.Context) error {
	if len(r.dirty) == 0 {
		return nil
	}
	if err := r.verify(ctx); err != nil {
		return err
	}
	for k, v := range r.dirty {
		_, err := r.pool.Exec(ctx, `UPDATE range_cell SET value = $3, touched = now() WHERE range_id = $1 AND key = $2`, r.id, k, v) // want:C
		if err != nil {
			return fmt.Errorf("cell %q: %w", k, err)
		}
		delete(r.dirty, k)
	}
	return nil
}
