package ua08

import (
	"context"
)

const take = `
UPDATE tenures
   SET holder = $1, ends_at = now() + $3 * interval '1 second'
 WHERE slot = $2 AND (holder = $1 OR holder IS NULL OR ends_at < now())`

// enter takes the slot or prolongs it.
func (r *Reader) enter(ctx context.Context) (bool, error) {
	res, err := r.db.ExecContext(ctx, take, r.node, r.slot, r.ttl.Seconds())
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}
