package ud08

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"
)

var errNotClaimed = errors.New("job is claimed by another instance")

// Registry adopts jobs and resumes them on this instance.
type Registry struct {
	pool     *pgxpool.Pool
	instance string
}

func NewRegistry(pool *pgxpool.Pool) (*Registry, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &Registry{pool: pool, instance: fmt.Sprintf("%s-%d", host, os.Getpid())}, nil
}

func (r *Registry) claim(ctx context.Context) (int64, error) {
	var id int64
	err := r.pool.QueryRow(ctx, `
		UPDATE jobs SET claimed_by = $1, state = 'running'
		WHERE id = (SELECT id FROM jobs WHERE claimed_by IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING id`, r.instance).Scan(&id) // may:R
	return id, err
}

func (r *Registry) claimed(ctx context.Context, id int64) error { // may:R
	var by *string
	if err := r.pool.QueryRow(ctx, `SELECT claimed_by FROM jobs WHERE id = $1`, id).Scan(&by); err != nil {
		return err
	}
	if by == nil || *by != r.instance {
		return errNotClaimed
	}
	return nil
}

// ResumeChangefeed emits rows and moves the feed's high-water mark.
func (r *Registry) ResumeChangefeed(ctx context.Context, feed string, next func(context.Context) (int64, error)) error { // may:M
	id, err := r.claim(ctx)
	if err != nil {
		return err
	}
	for {
		ts, err := next(ctx)
		if err != nil {
			return err
		}
		if err := r.claimed(ctx, id); err != nil {
			return err
		}
		_, err = r.pool.Exec(ctx, `UPDATE changefeeds SET high_water = $2 WHERE name = $1`, feed, ts) // want:C|L
		if err != nil {
			return fmt.Errorf("high water of %s: %w", feed, err)
		}
	}
}
