// Package portal serves customers. It holds no lease on anything.
package portal

import (
	"context"

	"github.com/jmoiron/sqlx"
)

type Portal struct{ DB *sqlx.DB }

type Request struct {
	Cluster string `db:"cluster"`
	Size    int    `db:"size"`
	Label   string `db:"label"`
}

func (p *Portal) Create(ctx context.Context, r Request) error {
	_, err := p.DB.NamedExecContext(ctx,
		`INSERT INTO clusters (cluster, wanted_size, label, state) VALUES (:cluster, :size, :label, 'new')`, r)
	return err
}

// Resize sets what is wanted; the provisioner sets what is.
func (p *Portal) Resize(ctx context.Context, r Request) error {
	_, err := p.DB.NamedExecContext(ctx, `UPDATE clusters SET wanted_size = :size WHERE cluster = :cluster`, r)
	return err
}

func (p *Portal) Cancel(ctx context.Context, cluster string) error {
	_, err := p.DB.ExecContext(ctx, `UPDATE clusters SET state = 'cancelling' WHERE cluster = $1`, cluster)
	return err
}
