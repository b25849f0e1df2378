package hn34

import (
	"context"
	"errors"
	"os"

	"github.com/jmoiron/sqlx"
)

var errMoved = errors.New("tenant moved to another host")

type Mover struct {
	db   *sqlx.DB
	host string
}

func New(db *sqlx.DB) *Mover {
	h, _ := os.Hostname()
	return &Mover{db: db, host: h}
}

func (m *Mover) inTx(ctx context.Context, f func(*sqlx.Tx) error) error {
	tx, err := m.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Bill holds the assignment row to the commit.
func (m *Mover) Bill(ctx context.Context, tenant string, cents int64) error {
	return m.inTx(ctx, func(tx *sqlx.Tx) error {
		var host string
		if err := tx.QueryRowxContext(ctx, `SELECT host FROM tenant_leases WHERE tenant = $1 FOR NO KEY UPDATE`, tenant).Scan(&host); err != nil {
			return err
		}
		if host != m.host {
			return errMoved
		}
		_, err := tx.ExecContext(ctx, `UPDATE tenants SET billed = billed + $2 WHERE id = $1`, tenant, cents)
		return err
	})
}

// Guarded compares the owner in the write itself.
func (m *Mover) Guarded(ctx context.Context, tenant string) error {
	ok := false
	if err := m.db.QueryRowxContext(ctx, `SELECT host = $2 FROM tenant_leases WHERE tenant = $1`, tenant, m.host).Scan(&ok); err != nil {
		return err
	}
	if !ok {
		return errMoved
	}
	res, err := m.db.ExecContext(ctx, `UPDATE tenants SET warm = true WHERE id = $1
		AND EXISTS (SELECT 1 FROM tenant_leases l WHERE l.tenant = tenants.id AND l.host = $2 FOR UPDATE)`, tenant, m.host)
	if err != nil {
		return err
	}
	if n, _ := res.RowsAffected(); n == 0 {
		return errMoved
	}
	return nil
}
