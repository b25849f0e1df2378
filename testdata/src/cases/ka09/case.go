// Package ka09 has home-made migration and import locks: look, then take.
package ka09

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
)

var ErrHeld = errors.New("held by another process")

type Importer struct {
	pool *pgxpool.Pool
	rdb  *redis.Client
	me   string
}

func NewImporter(pool *pgxpool.Pool, rdb *redis.Client) *Importer {
	host, _ := os.Hostname()
	return &Importer{pool: pool, rdb: rdb, me: fmt.Sprintf("%s:%d", host, os.Getpid())}
}

// takeTableLock reads the lock row and then writes it.
func (i *Importer) takeTableLock(ctx context.Context, name string) error {
	var holder string
	err := i.pool.QueryRow(ctx, `SELECT locked_by FROM import_locks WHERE name = $1`, name).Scan(&holder)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
	case err != nil:
		return err
	case holder != "" && holder != i.me:
		return fmt.Errorf("%w: %s", ErrHeld, holder)
	}
	_, err = i.pool.Exec(ctx, // want:C|W
		`INSERT INTO import_locks (name, locked_by, locked_at) VALUES ($1, $2, now())
		 ON CONFLICT (name) DO UPDATE SET locked_by = EXCLUDED.locked_by, locked_at = EXCLUDED.locked_at`, name, i.me)
	return err
}

func (i *Importer) freeTableLock(ctx context.Context, name string) error {
	_, err := i.pool.Exec(ctx, `UPDATE import_locks SET locked_by = '' WHERE name = $1 AND locked_by = $2`, name, i.me)
	return err
}

// takeFeedLock does the same in Redis.
func (i *Importer) takeFeedLock(ctx context.Context, feed string) error {
	key := "feed-lock:" + feed
	n, err := i.rdb.Exists(ctx, key).Result()
	if err != nil {
		return err
	}
	if n > 0 {
		return ErrHeld
	}
	return i.rdb.Set(ctx, key, i.me, 5*time.Minute).Err() // want:C
}

func (i *Importer) Import(ctx context.Context, feed string, load func(context.Context) error) error { // may:M
	if err := i.takeFeedLock(ctx, feed); err != nil {
		return err
	}
	if err := i.takeTableLock(ctx, feed); err != nil {
		return err
	}
	defer func() { _ = i.freeTableLock(ctx, feed) }()
	return load(ctx)
}
