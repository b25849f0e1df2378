// Package ua08 reads a change stream and applies it to a read model. Several
// instances stand by for one slot.
package ua08

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"
)

type Change struct {
	LSN   int64
	Key   string
	Value []byte
}

type ChangeSource interface {
	ReadChanges(ctx context.Context, slot string, after int64) ([]Change, error)
}

type Reader struct {
	db   *sqlx.DB
	src  ChangeSource
	node string
	slot string
	ttl  time.Duration
}

func (r *Reader) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		mine, err := r.enter(ctx)
		if err != nil {
			slog.Warn("enter", "slot", r.slot, "err", err)
		}
		if !mine {
			time.Sleep(r.ttl / 3)
			continue
		}
		if err := r.step(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (r *Reader) step(ctx context.Context) error {
	var pos int64
	if err := r.db.GetContext(ctx, &pos, `SELECT lsn FROM stream_position WHERE slot = $1`, r.slot); err != nil {
		return fmt.Errorf("position: %w", err)
	}
	changes, err := r.src.ReadChanges(ctx, r.slot, pos)
	if err != nil || len(changes) == 0 {
		return err
	}
	tx, err := r.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, c := range changes {
		if _, err := tx.ExecContext(ctx, // want:C
			`INSERT INTO read_model (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value`,
			c.Key, c.Value); err != nil {
			return fmt.Errorf("apply %s: %w", c.Key, err)
		}
		pos = c.LSN
	}
	if _, err := tx.ExecContext(ctx, `UPDATE stream_position SET lsn = $2 WHERE slot = $1`, r.slot, pos); err != nil { // want:C
		return err
	}
	return tx.Commit()
}
