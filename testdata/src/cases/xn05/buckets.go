package xn05

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type Bucket struct {
	Series int64
	TS     time.Time
	Total  float64
}

type Writer struct {
	pool   *pgxpool.Pool
	schema string
	token  int64
}

const upsert = `
INSERT INTO %s.metric_bucket AS b (series, ts, total, fence) %s
ON CONFLICT (series, ts) DO UPDATE SET total = EXCLUDED.total, fence = EXCLUDED.fence
WHERE b.fence <= EXCLUDED.fence`

// Write stores one bucket; a row of a newer token stays as it is.
func (w *Writer) Write(ctx context.Context, b Bucket) error {
	q := fmt.Sprintf(upsert, w.schema, `VALUES ($1, $2, $3, $4)`)
	tag, err := w.pool.Exec(ctx, q, b.Series, b.TS, b.Total, w.token)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("token %d is stale", w.token)
	}
	return nil
}

// Bulk copies into a table of this session first: COPY cannot compare. What
// reaches the real table goes through the same conflict clause.
func (w *Writer) Bulk(ctx context.Context, bs []Bucket) (int64, error) {
	var n int64
	err := pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `CREATE TEMP TABLE bucket_stage
			(series bigint, ts timestamptz, total double precision) ON COMMIT DROP`); err != nil {
			return err
		}
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"bucket_stage"}, []string{"series", "ts", "total"},
			pgx.CopyFromSlice(len(bs), func(i int) ([]any, error) {
				return []any{bs[i].Series, bs[i].TS, bs[i].Total}, nil
			}))
		if err != nil {
			return err
		}
		q := fmt.Sprintf(upsert, w.schema, `SELECT series, ts, total, $1::bigint FROM bucket_stage`)
		tag, err := tx.Exec(ctx, q, w.token)
		if err != nil {
			return err
		}
		if n = tag.RowsAffected(); n < int64(len(bs)) {
			return fmt.Errorf("token %d is stale for %d buckets", w.token, int64(len(bs))-n)
		}
		return nil
	})
	return n, err
}
