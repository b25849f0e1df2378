package hc18

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

type Cart struct {
	Items map[string]int `json:"items"`
}

type Carts struct {
	rdb  *redis.Client
	lock *redislock.Client
}

// guarded runs change while a distributed lock on the cart is held.
func guarded[T any](ctx context.Context, l *redislock.Client, key string, change func(context.Context) (T, error)) (T, error) {
	var zero T
	held, err := l.Obtain(ctx, "lock:"+key, 5*time.Second, &redislock.Options{
		RetryStrategy: redislock.LimitRetry(redislock.LinearBackoff(50*time.Millisecond), 20),
	})
	if err != nil {
		return zero, err
	}
	defer func() { _ = held.Release(ctx) }()
	return change(ctx)
}

func (c *Carts) Add(ctx context.Context, id, sku string) (*Cart, error) {
	return guarded(ctx, c.lock, id, func(ctx context.Context) (*Cart, error) {
		cart := &Cart{Items: map[string]int{}}
		raw, err := c.rdb.Get(ctx, "cart:"+id).Bytes()
		if err != nil && err != redis.Nil {
			return nil, err
		}
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, cart); err != nil {
				return nil, err
			}
		}
		cart.Items[sku]++
		raw, err = json.Marshal(cart)
		if err != nil {
			return nil, err
		}
		return cart, c.rdb.Set(ctx, "cart:"+id, raw, 0).Err() // want:C
	})
}
