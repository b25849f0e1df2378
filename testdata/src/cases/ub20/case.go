package ub20

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const campaignSQL = `
INSERT INTO scheduler_leader (name, holder, expires_at)
VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE
SET holder = EXCLUDED.holder, expires_at = EXCLUDED.expires_at
WHERE scheduler_leader.holder = EXCLUDED.holder OR scheduler_leader.expires_at < $4`

// Elector campaigns for the one scheduler that enqueues periodic jobs.
type Elector struct {
	pool   *pgxpool.Pool
	name   string
	holder string
	ttl    time.Duration
}

func NewElector(pool *pgxpool.Pool, name string, ttl time.Duration) *Elector {
	host, _ := os.Hostname()
	return &Elector{pool: pool, name: name, holder: fmt.Sprintf("%s-%d-%d", host, os.Getpid(), time.Now().UnixNano()), ttl: ttl}
}

func (e *Elector) attempt(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, e.ttl/4)
	defer cancel()
	now := time.Now().UTC()
	tag, err := e.pool.Exec(ctx, campaignSQL, e.name, e.holder, now.Add(e.ttl), now) // want:T
	if err != nil {
		return false, fmt.Errorf("campaign %s: %w", e.name, err)
	}
	return tag.RowsAffected() == 1, nil
}

// Elected reports every change of the answer.
func (e *Elector) Elected(ctx context.Context) <-chan bool {
	out := make(chan bool)
	go func() {
		defer close(out)
		var was bool
		for ctx.Err() == nil {
			is, err := e.attempt(ctx)
			if err != nil {
				is = false
			}
			if is != was {
				select {
				case out <- is:
				case <-ctx.Done():
				}
				was = is
			}
			select {
			case <-time.After(e.ttl / 3):
			case <-ctx.Done():
			}
		}
	}()
	return out
}
