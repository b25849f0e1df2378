package uv01

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Reaper returns deliveries whose worker went silent to the queue. It reads a
// page of candidates, sorts them into "again" and "dead" here, and writes the
// outcome back as one batch of round trips.
type Reaper struct {
	pool     *pgxpool.Pool
	silence  time.Duration
	pageSize int
}

type candidate struct {
	ID       int64
	Tries    int32
	MaxTries int32
	Kind     string
}

func (r *Reaper) candidates(ctx context.Context) ([]candidate, error) {
	rows, err := r.pool.Query(ctx, `
		SELECT id, tries, max_tries, kind
		FROM delivery
		WHERE state = 'executing' AND fetched_at < now() - make_interval(secs => $1)
		ORDER BY id
		LIMIT $2`, r.silence.Seconds(), r.pageSize)
	if err != nil {
		return nil, fmt.Errorf("select silent deliveries: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[candidate])
}

func backoff(tries int32) time.Duration {
	d := 10 * time.Second
	for range tries {
		d *= 2
	}
	return min(d, time.Hour)
}

// Sweep moves the candidates on. Between the SELECT and the batch a delivery
// may have finished, or have been reaped by a peer and fetched again: its new
// execution is put back to 'available' all the same.
func (r *Reaper) Sweep(ctx context.Context) (int, error) {
	cs, err := r.candidates(ctx)
	if err != nil {
		return 0, err
	}
	if len(cs) == 0 {
		return 0, nil
	}
	var b pgx.Batch
	for _, c := range cs {
		if c.Tries >= c.MaxTries {
			b.Queue(`UPDATE delivery SET state = 'dead', ended_at = now() WHERE id = $1`, c.ID) // want:W|L
			continue
		}
		b.Queue(`UPDATE delivery SET state = 'available', scheduled_at = now() + make_interval(secs => $2) WHERE id = $1`, // want:W|L
			c.ID, backoff(c.Tries).Seconds())
	}
	if err := r.pool.SendBatch(ctx, &b).Close(); err != nil { // may:W|L
		return 0, fmt.Errorf("reap %d deliveries: %w", len(cs), err)
	}
	return len(cs), nil
}
