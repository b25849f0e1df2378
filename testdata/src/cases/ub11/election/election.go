// Package election keeps one row per service in PostgreSQL; whoever wrote it
// last and keeps it fresh leads.
package election

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

type Elector struct {
	pool    *pgxpool.Pool
	service string
	id      string
	leading atomic.Bool
}

func New(pool *pgxpool.Pool, service string) *Elector {
	return &Elector{pool: pool, service: service, id: uuid.NewString()}
}

// Run campaigns and renews until the context ends.
func (e *Elector) Run(ctx context.Context) {
	t := time.NewTicker(5 * time.Second)
	defer t.Stop()
	for {
		ok, err := e.campaign(ctx)
		if err != nil {
			slog.Warn("election", "service", e.service, "err", err)
		}
		e.leading.Store(ok && err == nil)
		select {
		case <-ctx.Done():
			e.leading.Store(false)
			return
		case <-t.C:
		}
	}
}

func (e *Elector) campaign(ctx context.Context) (bool, error) {
	tag, err := e.pool.Exec(ctx, `
		INSERT INTO service_leader AS l (service, holder, valid_until)
		VALUES ($1, $2, now() + interval '20 seconds')
		ON CONFLICT (service) DO UPDATE
		SET holder = excluded.holder, valid_until = excluded.valid_until
		WHERE l.valid_until < now() OR l.holder = excluded.holder`, e.service, e.id)
	if err != nil {
		return false, err
	}
	return tag.RowsAffected() == 1, nil
}

// IsLeader tells whether this process leads.
func (e *Elector) IsLeader() bool { return e.leading.Load() }
