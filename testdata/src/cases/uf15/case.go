package uf15

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"
)

// schedulerRow is the single row all schedulers compete for.
type schedulerRow struct {
	Host    string `db:"host"`
	BeatAt  int64  `db:"latest_heartbeat"` // unix seconds
	Version int64  `db:"version"`
}

type HA struct {
	db      *sqlx.DB
	host    string
	timeout time.Duration
}

var errContended = errors.New("another scheduler was faster")

func (h *HA) read(ctx context.Context) (schedulerRow, error) {
	var row schedulerRow
	err := h.db.GetContext(ctx, &row, `SELECT host, latest_heartbeat, version FROM scheduler_job WHERE id = 1`)
	return row, err
}

// TryPromote makes this host the scheduler if the present one went silent.
func (h *HA) TryPromote(ctx context.Context) (bool, error) {
	row, err := h.read(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return false, errors.New("table scheduler_job is not initialised")
	}
	if err != nil {
		return false, err
	}
	if row.Host != h.host {
		silent := time.Now().Unix() - row.BeatAt
		if silent < int64(h.timeout/time.Second) { // want:T
			return false, nil
		}
	}
	if err := h.store(ctx, row); err != nil {
		if errors.Is(err, errContended) {
			return false, nil
		}
		return false, err
	}
	return true, nil
}

func (h *HA) store(ctx context.Context, old schedulerRow) error {
	res, err := h.db.ExecContext(ctx, // may:T
		`UPDATE scheduler_job SET host = ?, latest_heartbeat = ?, version = version + 1 WHERE id = 1 AND version = ?`,
		h.host, time.Now().Unix(), old.Version)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return errContended
	}
	return nil
}
