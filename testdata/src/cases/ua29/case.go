// Package ua29 keeps the one active instance of a matching engine.
package ua29

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrReplaced = errors.New("replaced by another instance")

// tenure is the local view of a won or renewed term.
type tenure struct {
	owner string
	until time.Time
}

type Keeper struct {
	pool   *pgxpool.Pool
	id     string
	ttl    time.Duration
	margin time.Duration

	mu  sync.Mutex
	cur tenure
}

func NewKeeper(pool *pgxpool.Pool) *Keeper {
	return &Keeper{pool: pool, id: uuid.NewString(), ttl: 12 * time.Second, margin: 2 * time.Second}
}

func (k *Keeper) renew(ctx context.Context) error {
	sent := time.Now().UTC()
	ctx, cancel := context.WithTimeout(ctx, k.ttl/4)
	defer cancel()
	tag, err := k.pool.Exec(ctx, `
		INSERT INTO engine_owner (one, owner, expires_at) VALUES (true, $1, clock_timestamp() + $2 * interval '1 millisecond')
		ON CONFLICT (one) DO UPDATE SET owner = EXCLUDED.owner, expires_at = EXCLUDED.expires_at
		WHERE engine_owner.owner = $1 OR engine_owner.expires_at < clock_timestamp()`, k.id, k.ttl.Milliseconds())
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if tag.RowsAffected() == 0 {
		k.cur = tenure{}
		return ErrReplaced
	}
	k.cur = tenure{owner: k.id, until: sent.Add(k.ttl - k.margin)}
	return nil
}

// Held reports whether this instance may accept orders.
func (k *Keeper) Held() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.cur.owner == k.id && time.Now().UTC().Before(k.cur.until) // want:T
}

// Run renews until the instance is replaced, or its own deadline has passed.
func (k *Keeper) Run(ctx context.Context) error {
	t := time.NewTicker(k.ttl / 5)
	defer t.Stop()
	for {
		if err := k.renew(ctx); err != nil {
			if errors.Is(err, ErrReplaced) || !k.Held() {
				return err
			}
			slog.Warn("renew", "err", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	}
}
