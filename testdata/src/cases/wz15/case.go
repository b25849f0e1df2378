package wz15

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

var ErrStale = errors.New("aggregator was replaced")

// Aggregator writes windows; the triggers of the schema compare the token that
// begin announces with the one stored in the row.
type Aggregator struct {
	db    *sql.DB
	token int64
}

func (a *Aggregator) begin(ctx context.Context) (*sql.Tx, error) {
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO writer_session (one, token) VALUES (1, ?)
		ON CONFLICT (one) DO UPDATE SET token = excluded.token`, a.token); err != nil {
		_ = tx.Rollback()
		return nil, fmt.Errorf("announce: %w", err)
	}
	return tx, nil
}

func stale(err error) error {
	if err != nil && strings.Contains(err.Error(), "fence:stale:") {
		return ErrStale
	}
	return err
}

func (a *Aggregator) Fold(ctx context.Context, sensor string, start int64, n int, mean float64) error {
	tx, err := a.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	_, err = tx.ExecContext(ctx, `
		UPDATE sensor_windows
		SET mean = (mean * samples + ? * ?) / (samples + ?), samples = samples + ?
		WHERE sensor = ? AND start_unix = ?`, mean, n, n, n, sensor, start)
	if err != nil {
		return stale(err)
	}
	return stale(tx.Commit())
}

func (a *Aggregator) Expire(ctx context.Context, before int64) error {
	tx, err := a.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, `DELETE FROM sensor_windows WHERE start_unix < ?`, before); err != nil {
		return stale(err)
	}
	return tx.Commit()
}
