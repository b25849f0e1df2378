package hn38

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var ErrNotMine = errors.New("not the holder")

type Lock struct {
	rdb *redis.Client
	key string
	val string
}

func Take(ctx context.Context, rdb *redis.Client, key string) (*Lock, bool, error) {
	l := &Lock{rdb, key, uuid.NewString()}
	ok, err := rdb.SetNX(ctx, key, l.val, time.Minute).Result()
	return l, ok, err
}

// Free compares under WATCH: the DEL is not executed if the key was touched.
func (l *Lock) Free(ctx context.Context) error {
	return l.rdb.Watch(ctx, func(tx *redis.Tx) error {
		cur, err := tx.Get(ctx, l.key).Result()
		if err != nil {
			return err
		}
		if cur != l.val {
			return ErrNotMine
		}
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Del(ctx, l.key)
			return nil
		})
		return err
	}, l.key)
}
