// Package provision works on the clusters it was given a fence for.
package provision

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"
)

var ErrStale = errors.New("cluster is provisioned by another worker")

type Provisioner struct{ db *sqlx.DB }

type Lease struct {
	Cluster string
	Fence   int64
}

func (p *Provisioner) Sized(ctx context.Context, l Lease, size int) error {
	res, err := p.db.ExecContext(ctx, `
		UPDATE clusters SET size = $1, state = 'ready', fence = $2
		WHERE cluster = $3 AND fence <= $2`, size, l.Fence, l.Cluster)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrStale
	}
	return nil
}

// Tag sets a column that is open to everybody.
func (p *Provisioner) Tag(ctx context.Context, l Lease, label string) error {
	_, err := p.db.ExecContext(ctx, `UPDATE clusters SET label = $1 WHERE cluster = $2`, label, l.Cluster)
	return err
}
