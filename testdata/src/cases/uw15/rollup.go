package uw15

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type Point struct {
	Series int64
	Bucket time.Time
	Total  float64
	N      int64
}

// Roller writes roll-ups of the shard it leads.
type Roller struct {
	pool *pgxpool.Pool
	term int64
}

// Flush sends all points as one batch.
func (r *Roller) Flush(ctx context.Context, pts []Point) error {
	b := &pgx.Batch{}
	for _, p := range pts {
		b.Queue(`UPDATE rollup_bucket SET total = total + @total, samples = samples + @n
			WHERE series = @series AND bucket = @bucket`, // want:W
			pgx.NamedArgs{"total": p.Total, "n": p.N, "series": p.Series, "bucket": p.Bucket})
	}
	return r.pool.SendBatch(ctx, b).Close() // may:W
}

// Correct is the careful one.
func (r *Roller) Correct(ctx context.Context, p Point) error {
	b := &pgx.Batch{}
	b.Queue(`UPDATE rollup_bucket SET total = @total, samples = @n, shard_term = @term
		WHERE series = @series AND bucket = @bucket AND shard_term <= @term`,
		pgx.NamedArgs{"total": p.Total, "n": p.N, "series": p.Series, "bucket": p.Bucket, "term": r.term},
	)
	res := r.pool.SendBatch(ctx, b)
	tag, err := res.Exec()
	if err == nil && tag.RowsAffected() == 0 {
		err = fmt.Errorf("term %d is over", r.term)
	}
	if cerr := res.Close(); err == nil {
		err = cerr
	}
	return err
}

// Backfill replaces a window in bulk.
func (r *Roller) Backfill(ctx context.Context, from, to time.Time, pts []Point) error {
	return pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, // want:W
			`DELETE FROM rollup_bucket WHERE bucket >= $1 AND bucket < $2`, from, to); err != nil {
			return err
		}
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"rollup_bucket"}, // want:W
			[]string{"series", "bucket", "total", "samples"},
			pgx.CopyFromSlice(len(pts), func(i int) ([]any, error) {
				return []any{pts[i].Series, pts[i].Bucket, pts[i].Total, pts[i].N}, nil
			}))
		return err
	})
}
