package ub14

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrFenced says that a newer replicator took over this slot.
var ErrFenced = errors.New("replicator: fenced")

// Replicator copies a change stream into a warehouse. epoch was handed out
// when this instance registered.
type Replicator struct {
	pool  *pgxpool.Pool
	slot  string
	epoch int64
}

func Register(ctx context.Context, pool *pgxpool.Pool, slot string) (*Replicator, error) {
	r := &Replicator{pool: pool, slot: slot}
	err := pool.QueryRow(ctx, `
		INSERT INTO replicator (slot, epoch) VALUES ($1, 1)
		ON CONFLICT (slot) DO UPDATE SET epoch = replicator.epoch + 1
		RETURNING epoch`, slot).Scan(&r.epoch)
	return r, err
}

func (r *Replicator) checkEpoch(ctx context.Context) error {
	var cur int64
	err := r.pool.QueryRow(ctx, `SELECT epoch FROM replicator WHERE slot = $1`, r.slot).Scan(&cur)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("%w: slot dropped", ErrFenced)
	case err != nil:
		return err
	case cur != r.epoch:
		return fmt.Errorf("%w: epoch %d, ours %d", ErrFenced, cur, r.epoch)
	}
	return nil
}

type Column struct{ Name, Type string }

// ApplyDDL records the shape of a table after a schema change went by.
func (r *Replicator) ApplyDDL(ctx context.Context, table string, cols []Column, lsn int64) error {
	if err := r.checkEpoch(ctx); err != nil {
		return err
	}
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = c.Name + " " + c.Type
	}
	_, err := r.pool.Exec(ctx, // want:C
		`UPDATE sink_table SET columns = $2, changed_at_lsn = $3 WHERE name = $1`, table, names, lsn)
	return err
}

// Shape reads what was recorded.
func (r *Replicator) Shape(ctx context.Context, table string) (cols []string, err error) {
	err = r.pool.QueryRow(ctx, `SELECT columns FROM sink_table WHERE name = $1`, table).Scan(&cols)
	return cols, err
}
