package hn35

import (
	"context"
	"database/sql"
	"errors"
)

var errBusy = errors.New("rebuild is running elsewhere")

// Rebuild uses MySQL's GET_LOCK; lock and statements share a connection.
func Rebuild(ctx context.Context, db *sql.DB, ids []int64) error {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	var got sql.NullInt64
	if err := c.QueryRowContext(ctx, "SELECT GET_LOCK('rebuild', 0)").Scan(&got); err != nil {
		return err
	}
	if got.Int64 != 1 {
		return errBusy
	}
	defer c.ExecContext(ctx, "SELECT RELEASE_LOCK('rebuild')")
	for _, id := range ids {
		if _, err := c.ExecContext(ctx, "UPDATE search SET dirty = 0 WHERE id = ?", id); err != nil {
			return err
		}
	}
	return nil
}
