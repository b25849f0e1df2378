package uw05

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrNotOwner = errors.New("the book has another owner")

// Book posts to a general ledger on behalf of one lease epoch.
type Book struct {
	pool  *pgxpool.Pool
	name  string
	epoch int64
}

// stillOwner reads the lease in the transaction, and takes no lock on it: the
// epoch may move between this read and the commit.
func (b *Book) stillOwner(ctx context.Context, tx pgx.Tx) error {
	var e int64
	if err := tx.QueryRow(ctx, `SELECT epoch FROM book_lease WHERE name = $1`, b.name).Scan(&e); err != nil { // may:W
		return err
	}
	if e != b.epoch {
		return ErrNotOwner
	}
	return nil
}

func (b *Book) Post(ctx context.Context, account int64, ref string, cents int64) error {
	return pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error {
		if err := b.stillOwner(ctx, tx); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, // want:W
			`INSERT INTO gl_line (account, ref, cents) VALUES ($1, $2, $3)`, account, ref, cents)
		if err != nil {
			return fmt.Errorf("line: %w", err)
		}
		_, err = tx.Exec(ctx, `UPDATE gl_account SET cents = cents + $2 WHERE id = $1`, account, cents) // want:W
		return err
	})
}

// closing carries one transaction through the steps of a year-end closing.
type closing struct {
	tx pgx.Tx
}

// BeginClosing locks the lease row, but only against deletion: FOR KEY SHARE
// does not stop the update that raises the epoch.
func (b *Book) BeginClosing(ctx context.Context) (*closing, error) {
	tx, err := b.pool.Begin(ctx)
	if err != nil {
		return nil, err
	}
	var one int
	err = tx.QueryRow(ctx, `SELECT 1 FROM book_lease WHERE name = $1 AND epoch = $2 FOR KEY SHARE`, // may:W
		b.name, b.epoch).Scan(&one)
	if err != nil {
		_ = tx.Rollback(ctx)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, ErrNotOwner
		}
		return nil, err
	}
	return &closing{tx: tx}, nil
}

func (c *closing) Close(ctx context.Context, account int64) error {
	_, err := c.tx.Exec(ctx, `UPDATE gl_account SET closed = true WHERE id = $1`, account) // want:W
	return err
}

func (c *closing) Commit(ctx context.Context) error { return c.tx.Commit(ctx) }
