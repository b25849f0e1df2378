package hy08

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	leaseSet = "mq:leases"  // member: message id, score: unix seconds at which the lease ends
	pending  = "mq:pending" // list of message ids
)

// Broker hands messages to workers; a worker has a message for visibility.
type Broker struct {
	rdb        redis.UniversalClient
	visibility time.Duration
}

func (b *Broker) Receive(ctx context.Context) (string, error) { // may:T|M
	id, err := b.rdb.LPop(ctx, pending).Result()
	if err != nil {
		return "", err
	}
	until := time.Now().Add(b.visibility).Unix()
	return id, b.rdb.ZAdd(ctx, leaseSet, redis.Z{Score: float64(until), Member: id}).Err()
}

func (b *Broker) expired(ctx context.Context, limit int64) ([]string, error) {
	return b.rdb.ZRangeByScore(ctx, leaseSet, &redis.ZRangeBy{ // want:T
		Min:   "-inf",
		Max:   strconv.FormatInt(time.Now().Unix(), 10),
		Count: limit,
	}).Result()
}

func (b *Broker) requeue(ctx context.Context, id string) error {
	_, err := b.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.ZRem(ctx, leaseSet, id)
		p.RPush(ctx, pending, id)
		return nil
	})
	return err
}

// Recover puts messages of dead workers back.
func (b *Broker) Recover(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		ids, err := b.expired(ctx, 100) // may:T
		if err != nil {
			slog.Error("list expired leases", "err", err)
			continue
		}
		for _, id := range ids {
			if err := b.requeue(ctx, id); err != nil {
				slog.Error("requeue", "id", id, "err", err)
			}
		}
	}
}
