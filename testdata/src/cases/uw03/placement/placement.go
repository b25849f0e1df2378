// Package placement assigns volumes to storage nodes under the epoch of the
// elected placement driver.
package placement

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrOldEpoch = errors.New("placement: epoch is over")

type Driver struct {
	pool  *pgxpool.Pool
	epoch int64
}

func NewDriver(pool *pgxpool.Pool, epoch int64) *Driver { return &Driver{pool: pool, epoch: epoch} }

func (d *Driver) Assign(ctx context.Context, vol, node string) error {
	tag, err := d.pool.Exec(ctx, `
		UPDATE volume_map SET node = $2, epoch = $3
		WHERE vol = $1 AND epoch <= $3`, vol, node, d.epoch)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return ErrOldEpoch
	}
	return nil
}
