package mn03

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
)

var ErrLocked = errors.New("another instance rolls up this source")

// Rollup holds a session-level advisory lock and works on the same session.
type Rollup struct{ db *sql.DB }

func (r *Rollup) Do(ctx context.Context, source string) (err error) {
	conn, err := r.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connection: %w", err)
	}
	defer conn.Close()

	key := int64(crc32.ChecksumIEEE([]byte(source)))
	var ok bool
	if err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, key).Scan(&ok); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if !ok {
		return ErrLocked
	}
	defer func() {
		_, uerr := conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, key)
		err = errors.Join(err, uerr)
	}()

	sum, err := total(ctx, conn, source)
	if err != nil {
		return err
	}
	return put(ctx, conn, source, sum)
}

func total(ctx context.Context, c *sql.Conn, source string) (n int64, err error) {
	err = c.QueryRowContext(ctx, `SELECT coalesce(sum(amount), 0) FROM meter_events WHERE source = $1`, source).Scan(&n)
	return n, err
}

func put(ctx context.Context, c *sql.Conn, source string, sum int64) error {
	_, err := c.ExecContext(ctx, `UPDATE meter_totals SET amount = $2 WHERE source = $1`, source, sum)
	if err != nil {
		return fmt.Errorf("store %s: %w", source, err)
	}
	return nil
}
