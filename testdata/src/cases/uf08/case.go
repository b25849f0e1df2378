package uf08

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
)

var ErrLocked = errors.New("another instance is compacting")

// Compactor takes a session-level advisory lock through the pool: the session
// that holds it is not the one that runs the statements below, and may be
// closed by the pool at any time.
type Compactor struct{ db *sql.DB }

func lockID(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return int64(h.Sum64() >> 1)
}

func (c *Compactor) tryLock(ctx context.Context, id int64) error {
	var ok bool
	if err := c.db.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, id).Scan(&ok); err != nil {
		return fmt.Errorf("advisory lock: %w", err)
	}
	if !ok {
		return ErrLocked
	}
	return nil
}

func (c *Compactor) unlock(ctx context.Context, id int64) {
	_, _ = c.db.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, id) // may:C|S
}

func (c *Compactor) Compact(ctx context.Context, series string) error { // may:M
	id := lockID("compact:" + series)
	if err := c.tryLock(ctx, id); err != nil {
		return err
	}
	defer c.unlock(context.WithoutCancel(ctx), id)

	var low, total int64
	err := c.db.QueryRowContext(ctx,
		`SELECT coalesce(min(seq), 0), coalesce(sum(value), 0) FROM series_samples WHERE series = $1`, series).
		Scan(&low, &total)
	if err != nil {
		return fmt.Errorf("sum %s: %w", series, err)
	}
	_, err = c.db.ExecContext(ctx, // want:C
		`UPDATE series_rollup SET low_seq = $2, total = $3 WHERE series = $1`, series, low, total)
	if err != nil {
		return fmt.Errorf("store %s: %w", series, err)
	}
	return nil
}
