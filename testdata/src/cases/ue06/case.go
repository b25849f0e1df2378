package ue06

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log"

	"github.com/jmoiron/sqlx"
)

var errBusy = errors.New("roll-up already running")

type usage struct {
	Tenant string `db:"tenant"`
	Bytes  int64  `db:"bytes"`
}

// Rollup folds raw events into one row per tenant and month.
type Rollup struct {
	db *sqlx.DB
}

func lockKey(name string) int64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return int64(h.Sum64())
}

func (r *Rollup) tryLock(ctx context.Context, key int64) (bool, error) {
	var ok bool
	err := r.db.GetContext(ctx, &ok, `SELECT pg_try_advisory_lock($1)`, key)
	return ok, err
}

func (r *Rollup) unlock(ctx context.Context, key int64) {
	if _, err := r.db.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, key); err != nil { // may:C|M|S
		log.Printf("advisory unlock: %v", err)
	}
}

// Run is started on every replica by cron. The lock lives in whichever pooled
// connection answered; the writes go through others.
func (r *Rollup) Run(ctx context.Context, month string) error { // may:M
	key := lockKey("rollup/" + month)
	ok, err := r.tryLock(ctx, key)
	if err != nil {
		return fmt.Errorf("advisory lock: %w", err)
	}
	if !ok {
		return errBusy
	}
	defer r.unlock(context.WithoutCancel(ctx), key)

	var sums []usage
	err = r.db.SelectContext(ctx, &sums,
		`SELECT tenant, sum(bytes) AS bytes FROM transfer WHERE to_char(at, 'YYYY-MM') = $1 GROUP BY tenant`, month)
	if err != nil {
		return err
	}
	for _, u := range sums {
		_, err := r.db.ExecContext(ctx, `UPDATE tenant_usage SET bytes = $3 WHERE tenant = $1 AND month = $2`, u.Tenant, month, u.Bytes) // want:C
		if err != nil {
			return fmt.Errorf("tenant %s: %w", u.Tenant, err)
		}
	}
	return nil
}
