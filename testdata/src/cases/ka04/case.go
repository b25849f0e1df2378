// Package ka04 rolls usage up into invoices, one replica at a time.
package ka04

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/jmoiron/sqlx"
)

type usage struct {
	Account string `db:"account_id"`
	Cents   int64  `db:"cents"`
}

type Biller struct {
	db *sqlx.DB
}

func lockID(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return int64(h.Sum64())
}

// tryLock takes a session level advisory lock on whatever connection the pool
// hands out.
func (b *Biller) tryLock(ctx context.Context, id int64) (bool, error) {
	var ok bool
	if err := b.db.GetContext(ctx, &ok, `SELECT pg_try_advisory_lock($1)`, id); err != nil {
		return false, fmt.Errorf("advisory lock: %w", err)
	}
	return ok, nil
}

func (b *Biller) unlock(ctx context.Context, id int64) {
	_, _ = b.db.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, id) // may:C
}

func (b *Biller) CloseMonth(ctx context.Context, month time.Time) error { // may:M
	id := lockID("billing:close")
	ok, err := b.tryLock(ctx, id)
	if err != nil {
		return err
	}
	if !ok {
		return nil // another replica is at it
	}
	defer b.unlock(ctx, id)

	var rows []usage
	if err := b.db.SelectContext(ctx, &rows,
		`SELECT account_id, sum(cents) AS cents FROM usage_events WHERE month = $1 GROUP BY account_id`, month); err != nil {
		return err
	}
	for _, u := range rows {
		if _, err := b.db.ExecContext(ctx, // want:C|W
			`UPDATE invoices SET total_cents = total_cents + $3, closed_at = now() WHERE account_id = $1 AND month = $2`,
			u.Account, month, u.Cents); err != nil {
			return err
		}
	}
	return nil
}
