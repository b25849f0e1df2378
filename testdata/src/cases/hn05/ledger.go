package hn05

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

var ErrDeposed = errors.New("a newer epoch exists")

type Writer struct {
	db    *sql.DB
	epoch int64
}

// Append locks the epoch row, compares and writes in one transaction.
func (w *Writer) Append(ctx context.Context, book string, amount int64) error {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := w.guard(ctx, tx, book); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE books SET total = total + $2 WHERE name = $1`, book, amount); err != nil {
		return fmt.Errorf("append: %w", err)
	}
	return tx.Commit()
}

func (w *Writer) guard(ctx context.Context, tx *sql.Tx, book string) error {
	var cur int64
	const q = `SELECT epoch FROM book_owners WHERE book = $1 FOR UPDATE`
	if err := tx.QueryRowContext(ctx, q, book).Scan(&cur); err != nil {
		return err
	}
	if cur != w.epoch {
		return ErrDeposed
	}
	return nil
}
