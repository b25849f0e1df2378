package uw14

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

const (
	update   = `UPDATE crawl_host `
	byHost   = ` WHERE host = :host`
	asOwner  = byHost + ` AND fence <= :fence`
	advance  = update + `SET frontier = :frontier, fence = :fence` + asOwner
	robots   = update + `SET robots = :robots, fence = :fence` + asOwner
	slowDown = update + `SET backoff = :backoff` + byHost
)

var ErrOldOwner = errors.New("host belongs to another crawler")

type Host struct {
	Host     string `db:"host"`
	Frontier int64  `db:"frontier"`
	Robots   string `db:"robots"`
	Backoff  int    `db:"backoff"`
	Fence    int64  `db:"fence"`
}

type Hosts struct{ db *sqlx.DB }

func (h *Hosts) inTx(ctx context.Context, fn func(*sqlx.Tx) error) error {
	tx, err := h.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func one(ctx context.Context, tx *sqlx.Tx, q string, arg any) error {
	res, err := tx.NamedExecContext(ctx, q, arg)
	if err != nil {
		return fmt.Errorf("crawl_host: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrOldOwner)
	}
	return nil
}

// Fetched stores the new frontier together with the robots file.
func (h *Hosts) Fetched(ctx context.Context, c Host) error {
	return h.inTx(ctx, func(tx *sqlx.Tx) error {
		if err := one(ctx, tx, advance, c); err != nil {
			return err
		}
		return one(ctx, tx, robots, c)
	})
}

// Refused widens the pause between two requests.
func (h *Hosts) Refused(ctx context.Context, c Host) error {
	c.Backoff = min(2*c.Backoff+1, 3600)
	return h.inTx(ctx, func(tx *sqlx.Tx) error {
		return one(ctx, tx, slowDown, c) // want:W
	})
}
