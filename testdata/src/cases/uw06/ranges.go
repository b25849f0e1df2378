package uw06

import (
	"context"
	"database/sql"
	"errors"
)

var ErrNotLeaseholder = errors.New("not the leaseholder")

type Ranges struct{ db *sql.DB }

type Lease struct {
	RangeID int64
	Gen     int64
}

// withTx is the only way this package opens transactions.
func withTx(ctx context.Context, db *sql.DB, fn func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// verify locks the lease row until the end of its transaction.
func verify(ctx context.Context, tx *sql.Tx, l Lease) error {
	var gen int64
	err := tx.QueryRowContext(ctx,
		`SELECT gen FROM range_lease WHERE range_id = $1 FOR UPDATE`, l.RangeID).Scan(&gen)
	if err != nil {
		return err
	}
	if gen != l.Gen {
		return ErrNotLeaseholder
	}
	return nil
}

// Merge verifies in the transaction that writes.
func (r *Ranges) Merge(ctx context.Context, l Lease, end []byte) error {
	return withTx(ctx, r.db, func(tx *sql.Tx) error {
		if err := verify(ctx, tx, l); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE range_desc SET end_key = $2 WHERE range_id = $1`, l.RangeID, end)
		return err
	})
}

// Split verifies in one transaction, computes the key, and writes in another:
// the lock on the lease row is gone by then.
func (r *Ranges) Split(ctx context.Context, l Lease, pick func(context.Context) ([]byte, error)) error {
	err := withTx(ctx, r.db, func(tx *sql.Tx) error { return verify(ctx, tx, l) })
	if err != nil {
		return err
	}
	at, err := pick(ctx)
	if err != nil {
		return err
	}
	return withTx(ctx, r.db, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, // want:W
			`UPDATE range_desc SET end_key = $2 WHERE range_id = $1`, l.RangeID, at)
		return err
	})
}
