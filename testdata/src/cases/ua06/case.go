// Package ua06 recomputes storage quotas of tenants.
package ua06

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
)

type Sizer interface {
	BytesUsed(ctx context.Context, tenant string) (int64, error)
}

type Recounter struct {
	rdb  redis.UniversalClient
	sz   Sizer
	node string
	ttl  time.Duration
}

func NewRecounter(rdb redis.UniversalClient, sz Sizer) (*Recounter, error) {
	h, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &Recounter{rdb: rdb, sz: sz, node: fmt.Sprintf("%s-%d", h, os.Getpid()), ttl: time.Minute}, nil
}

// grab returns a function that gives the name back.
func (r *Recounter) grab(ctx context.Context, name string) (func(), bool, error) {
	key := "mutex:" + name
	ok, err := r.rdb.SetNX(ctx, key, r.node, r.ttl).Result()
	if err != nil || !ok {
		return nil, false, err
	}
	return func() {
		if err := r.rdb.Del(context.WithoutCancel(ctx), key).Err(); err != nil { // want:C
			slog.Warn("give back", "key", key, "err", err)
		}
	}, true, nil
}

func (r *Recounter) Recount(ctx context.Context, tenants []string) error {
	done, ok, err := r.grab(ctx, "quota-recount")
	if err != nil {
		return fmt.Errorf("recount: %w", err)
	}
	if !ok {
		return nil
	}
	defer done()

	for _, t := range tenants {
		n, err := r.sz.BytesUsed(ctx, t)
		if err != nil {
			slog.Error("size", "tenant", t, "err", err)
			continue
		}
		if err := r.rdb.HSet(ctx, "quota:"+t, "bytes", n, "counted", time.Now().Unix()).Err(); err != nil { // want:C
			return err
		}
	}
	return nil
}
