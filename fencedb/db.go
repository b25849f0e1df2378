package fencedb

import (
	"context"
	"database/sql"
)

// An Execer runs statements. *sql.DB, *sql.Tx and *sql.Conn are Execers.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// A Beginner begins transactions. *sql.DB and *sql.Conn are Beginners; a *sql.Tx is
// none, so that what needs a transaction of its own cannot be given somebody else's.
type Beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

// A Tx is a transaction, as far as guards need one. Generated code makes it of the
// transactions of a driver that is not used through database/sql.
type Tx interface {
	// Exec runs a statement.
	Exec(ctx context.Context, query string, args ...any) error
	// QueryRow runs a query and reads its first row into dest. The error matches
	// [sql.ErrNoRows] if it has none.
	QueryRow(ctx context.Context, query string, args []any, dest ...any) error
}

// sqlTx is a Tx of database/sql.
type sqlTx struct{ *sql.Tx }

func (tx sqlTx) Exec(ctx context.Context, query string, args ...any) error {
	_, err := tx.ExecContext(ctx, query, args...)
	return err
}

func (tx sqlTx) QueryRow(ctx context.Context, query string, args []any, dest ...any) error {
	return tx.QueryRowContext(ctx, query, args...).Scan(dest...)
}

// A Change is what a patch does to one column: nothing (the zero Change), [Set] it to a
// value, or set it to [Null]. Changes are values; any number of goroutines may use one.
type Change[T any] struct {
	value  T
	sets   bool
	isNull bool
}

// Set returns the Change that gives a column the value v.
func Set[T any](v T) Change[T] { return Change[T]{value: v, sets: true} }

// Null returns the Change that gives a column NULL. A column that is declared NOT NULL
// refuses it in the database.
func Null[T any]() Change[T] { return Change[T]{sets: true, isNull: true} }

// IsZero tells whether the Change leaves the column as it is. It is what omitzero of
// encoding/json asks.
func (c Change[T]) IsZero() bool { return !c.sets }

// Arg returns what a statement binds for the column: the value, or nil for NULL, and
// whether the column is set at all.
func (c Change[T]) Arg() (arg any, sets bool) {
	if !c.sets || c.isNull {
		return nil, c.sets
	}
	return c.value, true
}
