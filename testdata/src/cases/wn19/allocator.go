package wn19

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

var ErrMoved = errors.New("range is assigned to another node")

// Allocator keeps address ranges of nodes. All of it runs SERIALIZABLE, so a
// check and a write that depends on it cannot be separated.
type Allocator struct {
	db   *sql.DB
	node string
}

func (a *Allocator) serial(ctx context.Context, fn func(*sql.Tx) error) error {
	for i := 0; ; i++ {
		err := a.once(ctx, fn)
		var pe *pgconn.PgError
		if i < 5 && errors.As(err, &pe) && pe.Code == "40001" {
			continue
		}
		return err
	}
}

func (a *Allocator) once(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := a.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Use marks an address of a range of this node as taken.
func (a *Allocator) Use(ctx context.Context, rng int64, addr string) error {
	return a.serial(ctx, func(tx *sql.Tx) error {
		var node string
		if err := tx.QueryRowContext(ctx, `SELECT node FROM ip_range WHERE id = $1`, rng).Scan(&node); err != nil {
			return err
		}
		if node != a.node {
			return fmt.Errorf("range %d: %w", rng, ErrMoved)
		}
		_, err := tx.ExecContext(ctx, `UPDATE ip_range SET used = used + 1, last_addr = $2 WHERE id = $1`, rng, addr)
		return err
	})
}

func (a *Allocator) Free(ctx context.Context, rng int64) (n int, err error) {
	err = a.serial(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT size - used FROM ip_range WHERE id = $1 AND node = $2`, rng, a.node).Scan(&n)
	})
	return n, err
}
