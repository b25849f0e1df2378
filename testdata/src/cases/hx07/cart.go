package hx07

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/redis/go-redis/v9"
)

type Line struct {
	SKU string `json:"sku"`
	Qty int    `json:"qty"`
}

type Carts struct {
	rdb  *redis.Client
	lock *Locker
}

// update reads, changes and writes a cart under its lock.
func update[T any](ctx context.Context, rdb *redis.Client, l *Locker, key string, fn func(*T) error) error {
	unlock, err := l.Lock(ctx, key)
	if err != nil {
		return err
	}
	defer unlock() // may:C

	var v T
	raw, err := rdb.Get(ctx, key).Bytes()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &v); err != nil {
			return err
		}
	}
	if err := fn(&v); err != nil {
		return err
	}
	raw, err = json.Marshal(v)
	if err != nil {
		return err
	}
	return rdb.Set(ctx, key, raw, 0).Err() // want:C
}

func (c *Carts) Add(ctx context.Context, id, sku string, qty int) error {
	return update(ctx, c.rdb, c.lock, "cart:"+id, func(lines *[]Line) error { // may:C
		for i := range *lines {
			if (*lines)[i].SKU == sku {
				(*lines)[i].Qty += qty
				return nil
			}
		}
		*lines = append(*lines, Line{SKU: sku, Qty: qty})
		return nil
	})
}
