// Package ua03 rebuilds search indexes and switches their aliases.
package ua03

import (
	"context"
	"fmt"
	"time"

	"github.com/bsm/redislock"
	"github.com/jmoiron/sqlx"
	"github.com/redis/go-redis/v9"
)

type Builder interface {
	BuildSearchIndex(ctx context.Context, name string, gen int64) (docs int64, err error)
}

type Indexer struct {
	db   *sqlx.DB
	b    Builder
	excl *exclusive
}

func NewIndexer(db *sqlx.DB, rdb *redis.Client, b Builder) *Indexer {
	return &Indexer{db: db, b: b, excl: &exclusive{lc: redislock.New(rdb), ttl: 20 * time.Second}}
}

type alias struct {
	Name   string `db:"name"`
	Target string `db:"target"`
	Docs   int64  `db:"docs"`
}

// Rebuild builds the next generation of an index and points the alias at it.
func (x *Indexer) Rebuild(ctx context.Context, index string) error {
	return x.excl.do(ctx, "reindex:"+index, func(ctx context.Context) error {
		var gen int64
		if err := x.db.GetContext(ctx, &gen, `SELECT coalesce(max(gen), 0) + 1 FROM search_build WHERE name = $1`, index); err != nil {
			return fmt.Errorf("generation: %w", err)
		}
		n, err := x.b.BuildSearchIndex(ctx, index, gen)
		if err != nil {
			return fmt.Errorf("build %s/%d: %w", index, gen, err)
		}
		a := alias{Name: index, Target: fmt.Sprintf("%s_%d", index, gen), Docs: n}
		_, err = x.db.NamedExecContext(ctx, `UPDATE search_alias SET target = :target, docs = :docs WHERE name = :name`, a) // want:C
		return err
	})
}
