package wn18

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

var ErrFenced = errors.New("segment has a newer writer")

// Segments stores what the writer of a partition has sealed. The partition row
// is locked and its epoch compared in the transaction of the change.
type Segments struct{ db *sql.DB }

type Writer struct {
	s         *Segments
	partition int
	epoch     int64
}

func (s *Segments) Open(ctx context.Context, partition int) (*Writer, error) {
	w := &Writer{s: s, partition: partition}
	err := s.db.QueryRowContext(ctx,
		`UPDATE partitions SET epoch = epoch + 1 WHERE id = $1 RETURNING epoch`, partition).Scan(&w.epoch)
	return w, err
}

func (w *Writer) guarded(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := w.s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var cur int64
	if err := tx.QueryRowContext(ctx, `SELECT epoch FROM partitions WHERE id = $1 FOR UPDATE`, w.partition).Scan(&cur); err != nil {
		return err
	}
	if cur != w.epoch {
		return fmt.Errorf("partition %d at epoch %d, mine is %d: %w", w.partition, cur, w.epoch, ErrFenced)
	}
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Seal closes a segment and moves the high-water mark with it.
func (w *Writer) Seal(ctx context.Context, segment string, last int64) error {
	return w.guarded(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE segments SET sealed_at = now(), last_offset = $2 WHERE name = $1`, segment, last); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE watermarks SET high = $2 WHERE partition_id = $1`, w.partition, last)
		return err
	})
}

func (w *Writer) Drop(ctx context.Context, segment string) error {
	return w.guarded(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM segments WHERE name = $1`, segment)
		return err
	})
}
