package uc02

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Builder rebuilds search indexes, one builder per index over all replicas.
type Builder struct {
	pool  *pgxpool.Pool
	build func(ctx context.Context, name string) (docs int64, path string, err error)
}

func lockKey(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("index:" + name))
	return int64(h.Sum64())
}

// Rebuild keeps a connection for the session lock; everything else goes
// through the pool. When the backend of that connection is terminated the lock
// is free again, and the pool goes on working.
func (b *Builder) Rebuild(ctx context.Context, name string) error {
	conn, err := b.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()

	key := lockKey(name)
	var got bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, key).Scan(&got); err != nil {
		return fmt.Errorf("advisory lock: %w", err)
	}
	if !got {
		return nil
	}
	defer func() {
		_, _ = conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, key)
	}()

	docs, path, err := b.build(ctx, name)
	if err != nil {
		return fmt.Errorf("build %s: %w", name, err)
	}
	return b.swap(ctx, name, path, docs)
}

func (b *Builder) swap(ctx context.Context, name, path string, docs int64) error {
	_, err := b.pool.Exec(ctx, // want:C
		`UPDATE search_index SET live_path = $2, doc_count = $3, built_at = now() WHERE name = $1`,
		name, path, docs)
	return err
}
