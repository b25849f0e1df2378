package hn32

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
)

type event struct {
	Origin string `json:"origin"`
	Key    string `json:"key"`
	Text   string `json:"text"`
}

// Bus spreads invalidations. Origin keeps a node from handling its own
// messages; nobody owns anything.
type Bus struct {
	rdb  *redis.Client
	pg   *pgxpool.Pool
	node string
}

func NewBus(rdb *redis.Client, pg *pgxpool.Pool) *Bus {
	return &Bus{rdb: rdb, pg: pg, node: uuid.NewString()}
}

func (b *Bus) Listen(ctx context.Context) error {
	sub := b.rdb.Subscribe(ctx, "invalidate")
	defer sub.Close()
	for m := range sub.Channel() {
		var e event
		if err := json.Unmarshal([]byte(m.Payload), &e); err != nil {
			continue
		}
		if e.Origin == b.node {
			continue
		}
		if err := b.rdb.Del(ctx, "cache:"+b.node+":"+e.Key).Err(); err != nil {
			return err
		}
		if _, err := b.pg.Exec(ctx, `UPDATE messages SET delivered = true WHERE key = $1`, e.Key); err != nil {
			return err
		}
	}
	return nil
}
