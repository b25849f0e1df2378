package yn02

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Compactor folds old samples; replicas exclude each other for the length of
// one transaction.
type Compactor struct{ db *sql.DB }

const compactLock = 727274

func (c *Compactor) Compact(ctx context.Context, keep time.Duration) (n int64, err error) {
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	var got bool
	if err = tx.QueryRowContext(ctx, `SELECT pg_try_advisory_xact_lock($1)`, compactLock).Scan(&got); err != nil {
		return 0, err
	}
	if !got {
		return 0, tx.Commit()
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO samples_hourly (series, hour, total)
		SELECT series, date_trunc('hour', at), sum(value) FROM samples
		WHERE at < now() - make_interval(secs => $1) GROUP BY 1, 2`, keep.Seconds())
	if err != nil {
		return 0, err
	}
	res, err := tx.ExecContext(ctx, `DELETE FROM samples WHERE at < now() - make_interval(secs => $1)`, keep.Seconds())
	if err != nil {
		return 0, err
	}
	if n, err = res.RowsAffected(); err != nil {
		return 0, err
	}
	if _, err = tx.ExecContext(ctx, `UPDATE compactor_status SET last_rows = $1, last_at = now()`, n); err != nil {
		return 0, err
	}
	return n, tx.Commit()
}
