package hc19

import (
	"context"
	"database/sql"
	"fmt"
	"os"

	"github.com/jmoiron/sqlx"
)

// locks(name primary key, owner, expires_at): a home-made lock table.
type CronLocks struct {
	db    *sqlx.DB
	owner string
}

func NewCronLocks(db *sqlx.DB) *CronLocks {
	h, _ := os.Hostname()
	return &CronLocks{db: db, owner: fmt.Sprintf("%s:%d", h, os.Getpid())}
}

func (c *CronLocks) Acquire(ctx context.Context, name string) (bool, error) {
	res, err := c.db.ExecContext(ctx, `
		INSERT INTO locks (name, owner, expires_at) VALUES ($1, $2, now() + interval '2 minutes')
		ON CONFLICT (name) DO UPDATE SET owner = EXCLUDED.owner, expires_at = EXCLUDED.expires_at
		WHERE locks.expires_at < now()`, name, c.owner)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

func (c *CronLocks) Release(ctx context.Context, name string) error {
	_, err := c.db.ExecContext(ctx, `DELETE FROM locks WHERE name = $1 AND owner = $2`, name, c.owner)
	return err
}

type Billing struct {
	locks *CronLocks
	db    *sql.DB
}

func (b *Billing) Nightly(ctx context.Context) error {
	ok, err := b.locks.Acquire(ctx, "billing")
	if err != nil || !ok {
		return err
	}
	defer b.locks.Release(ctx, "billing")
	_, err = b.db.ExecContext(ctx, `UPDATE subscriptions SET charged = charged + price WHERE active`) // want:C
	return err
}
