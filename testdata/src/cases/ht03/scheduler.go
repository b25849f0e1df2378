package ht03

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const takeShard = `
UPDATE shards
   SET owner = @node, lease_end = @until, epoch = epoch + 1
 WHERE name = @name AND (owner IS NULL OR lease_end < @now)
RETURNING epoch`

type Coordinator struct {
	pg   *pgxpool.Pool
	node string
	ttl  time.Duration
}

func (c *Coordinator) TryTake(ctx context.Context, shard string) (epoch int64, err error) {
	at := time.Now().UTC()
	args := pgx.NamedArgs{"node": c.node, "name": shard, "now": at, "until": at.Add(c.ttl)}
	err = c.pg.QueryRow(ctx, takeShard, args).Scan(&epoch) // want:T
	return
}
