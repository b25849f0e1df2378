package ht11

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

type Cluster struct {
	rdb  redis.UniversalClient
	self string
}

func (c *Cluster) Beat(ctx context.Context) error {
	return c.rdb.HSet(ctx, "nodes:heartbeat", c.self, time.Now().UnixMilli()).Err()
}

// Dead lists nodes that have not sent a heartbeat lately; their partitions are
// moved to this node.
func (c *Cluster) TakeOver(ctx context.Context, limit time.Duration) error {
	beats, err := c.rdb.HGetAll(ctx, "nodes:heartbeat").Result()
	if err != nil {
		return err
	}
	for node, s := range beats {
		ms, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			continue
		}
		if time.Now().UnixMilli()-ms <= limit.Milliseconds() { // want:T
			continue
		}
		parts, err := c.rdb.SMembers(ctx, "nodes:parts:"+node).Result()
		if err != nil {
			return err
		}
		for _, p := range parts {
			if err := c.rdb.SMove(ctx, "nodes:parts:"+node, "nodes:parts:"+c.self, p).Err(); err != nil { // may:C
				return err
			}
		}
	}
	return nil
}
