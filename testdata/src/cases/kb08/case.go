// Package kb08 elects one scheduler of a job service through Postgres.
package kb08

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const ttl = 30 * time.Second

var ErrLost = errors.New("leadership lost")

type Scheduler struct {
	pool *pgxpool.Pool
	id   string

	mu         sync.Mutex
	leaseUntil time.Time
}

// Elect inserts or prolongs the leader row on the clock of the database.
func (s *Scheduler) Elect(ctx context.Context) error {
	sent := time.Now().UTC()
	tag, err := s.pool.Exec(ctx,
		`INSERT INTO scheduler_leader (name, leader_id, expires_at) VALUES ('default', $1, now() + $2::interval)
		 ON CONFLICT (name) DO UPDATE SET leader_id = EXCLUDED.leader_id, expires_at = EXCLUDED.expires_at
		 WHERE scheduler_leader.leader_id = EXCLUDED.leader_id OR scheduler_leader.expires_at < now()`,
		s.id, ttl.String())
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return ErrLost
	}
	s.mu.Lock()
	s.leaseUntil = sent.Add(ttl - 5*time.Second) // may:T
	s.mu.Unlock()
	return nil
}

// Leading reports whether the lease is still good by this host's clock.
func (s *Scheduler) Leading() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().UTC().Before(s.leaseUntil) // want:T
}

func (s *Scheduler) Run(ctx context.Context, tick func(context.Context)) {
	t := time.NewTicker(ttl / 3)
	defer t.Stop()
	for {
		if err := s.Elect(ctx); err != nil { // may:M
			slog.Info("not elected", "err", err)
		}
		if s.Leading() { // may:T
			tick(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}
