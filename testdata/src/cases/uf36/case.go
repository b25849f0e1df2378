package uf36

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

var ErrFenced = errors.New("volume is attached by a newer engine")

type extent struct {
	Off, Len int64
	Object   string
}

// MetaStore keeps the extent map of volumes; engine_epochs has the engine that
// may change it.
type MetaStore struct{ db *sql.DB }

// Commit reads the epoch in the same transaction, but does not lock the row: a
// new engine can raise it before the commit.
func (m *MetaStore) Commit(ctx context.Context, volume string, epoch int64, es []extent) (err error) {
	tx, err := m.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	var cur int64
	err = tx.QueryRowContext(ctx, `SELECT epoch FROM engine_epochs WHERE volume = $1`, volume).Scan(&cur)
	if err != nil {
		return fmt.Errorf("read epoch: %w", err)
	}
	if cur != epoch {
		return ErrFenced
	}
	for _, e := range es {
		_, err = tx.ExecContext(ctx, // want:W|C
			`UPDATE volume_extents SET object = $3, len = $4 WHERE volume = $1 AND off = $2`,
			volume, e.Off, e.Object, e.Len)
		if err != nil {
			return fmt.Errorf("extent %d: %w", e.Off, err)
		}
	}
	return tx.Commit()
}

// Trim locks the guard row for the whole transaction.
func (m *MetaStore) Trim(ctx context.Context, volume string, epoch, from int64) error {
	tx, err := m.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	var cur int64
	err = tx.QueryRowContext(ctx, `SELECT epoch FROM engine_epochs WHERE volume = $1 FOR SHARE`, volume).Scan(&cur)
	if err != nil {
		return fmt.Errorf("read epoch: %w", err)
	}
	if cur != epoch {
		return ErrFenced
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM volume_extents WHERE volume = $1 AND off >= $2`, volume, from); err != nil {
		return err
	}
	return tx.Commit()
}
