package wz09

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

var (
	ErrStale   = errors.New("campaign is metered by a newer node")
	ErrMissing = errors.New("no such campaign")
)

// The affected-rows count of MySQL cannot tell a stale write from one that
// changes nothing, so both statements hand the stored epoch back through
// LAST_INSERT_ID. The epoch is assigned last: assignments see earlier ones.
const (
	spendSQL = `UPDATE ad_budgets
		SET spent = IF(lease_epoch <= ?, spent + ?, spent),
		    lease_epoch = LAST_INSERT_ID(GREATEST(lease_epoch, ?))
		WHERE campaign = ?`
	pauseSQL = `INSERT INTO ad_budgets (campaign, paused, lease_epoch) VALUES (?, ?, ?)
		ON DUPLICATE KEY UPDATE
		    paused = IF(VALUES(lease_epoch) >= lease_epoch, VALUES(paused), paused),
		    lease_epoch = LAST_INSERT_ID(GREATEST(lease_epoch, VALUES(lease_epoch)))`
	dropSQL = `DELETE FROM ad_budgets WHERE campaign = ? AND lease_epoch <= ?`
)

type Meter struct {
	db    *sql.DB
	epoch int64
}

func (m *Meter) Spend(ctx context.Context, campaign, micros int64) error {
	res, err := m.db.ExecContext(ctx, spendSQL, m.epoch, micros, m.epoch, campaign)
	if err != nil {
		return fmt.Errorf("spend: %w", err)
	}
	stored, err := res.LastInsertId()
	switch {
	case err != nil:
		return err
	case stored == 0:
		return ErrMissing
	case stored > m.epoch:
		return ErrStale
	}
	return nil
}

func (m *Meter) SetPaused(ctx context.Context, campaign int64, on bool) error {
	res, err := m.db.ExecContext(ctx, pauseSQL, campaign, on, m.epoch)
	if err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	if stored, err := res.LastInsertId(); err != nil || stored > m.epoch {
		return errors.Join(err, ErrStale)
	}
	return nil
}

func (m *Meter) Drop(ctx context.Context, campaign int64) error {
	res, err := m.db.ExecContext(ctx, dropSQL, campaign, m.epoch)
	if err != nil {
		return fmt.Errorf("drop: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrStale)
	}
	return nil
}
