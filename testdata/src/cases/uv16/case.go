package uv16

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrNotHolder = errors.New("tenant is held by another balancer")

// Grant is a tenant lease with the epoch it was given under.
type Grant struct {
	Tenant string
	Epoch  int64
}

type Move struct {
	Volume string
	From   string
	To     string
}

type Balancer struct{ pool *pgxpool.Pool }

// pin locks the lease row for the rest of the transaction.
func pin(ctx context.Context, tx pgx.Tx, g Grant) error {
	var one int
	err := tx.QueryRow(ctx,
		`SELECT 1 FROM tenant_leases WHERE tenant = $1 AND epoch = $2 FOR SHARE`, g.Tenant, g.Epoch).Scan(&one)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotHolder
	}
	return err
}

// Apply moves volumes under the pinned lease.
func (b *Balancer) Apply(ctx context.Context, g Grant, moves []Move) error {
	tx, err := b.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if err := pin(ctx, tx, g); err != nil {
		return err
	}
	for _, m := range moves {
		if _, err := tx.Exec(ctx,
			`UPDATE volumes SET node = $3 WHERE tenant = $1 AND name = $2`, g.Tenant, m.Volume, m.To); err != nil {
			return fmt.Errorf("move %s: %w", m.Volume, err)
		}
	}
	return tx.Commit(ctx)
}

// Cordon marks volumes of a node that is about to go; it goes straight to the
// pool, so the lease may have changed hands.
func (b *Balancer) Cordon(ctx context.Context, g Grant, node string) (int64, error) {
	tag, err := b.pool.Exec(ctx, // want:W
		`UPDATE volumes SET cordoned = true WHERE tenant = $1 AND node = $2`, g.Tenant, node)
	if err != nil {
		return 0, fmt.Errorf("cordon %s: %w", node, err)
	}
	return tag.RowsAffected(), nil
}
