package uw21

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Presence keeps who is online, in shards that move between nodes.
type Presence struct {
	rdb  *redis.Client
	node string
}

const shardPrefix = "shard:"

func shardKey(n int) string { return shardPrefix + strconv.Itoa(n) }

// Store writes the state of a shard; the node may have lost it meanwhile.
func (p *Presence) Store(ctx context.Context, shard int, users map[string]string) error {
	return p.rdb.HSet(ctx, shardKey(shard), users).Err() // want:W
}

// Drop empties a shard before it is handed over.
func (p *Presence) Drop(ctx context.Context, shard int) error {
	return p.clear(ctx, "shard:"+strconv.Itoa(shard)+":meta") // want:W
}

// Uncache removes what a request has computed.
func (p *Presence) Uncache(ctx context.Context, user string) error {
	return p.clear(ctx, "cache:"+user)
}

func (p *Presence) clear(ctx context.Context, key string) error {
	return p.rdb.Del(ctx, key).Err()
}

// Seen is a cache entry of its own.
func (p *Presence) Seen(ctx context.Context, user string) error {
	return p.rdb.Set(ctx, "seen:"+user, p.node, 10*time.Minute).Err()
}
