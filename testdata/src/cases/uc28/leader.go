package uc28

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type leaderRow struct {
	Holder  string
	Renewed time.Time
	Term    int64
}

// silentFor is how long the holder has not renewed, as seen from here.
func (r leaderRow) silentFor() time.Duration {
	return time.Now().Sub(r.Renewed) // want:T
}

// Singleton keeps one gateway daemon active.
type Singleton struct {
	pool  *pgxpool.Pool
	name  string
	self  string
	grace time.Duration
	term  int64
}

func (s *Singleton) load(ctx context.Context) (leaderRow, error) {
	var r leaderRow
	err := s.pool.QueryRow(ctx, `SELECT holder, renewed_at, term FROM leader WHERE name = $1`, s.name).
		Scan(&r.Holder, &r.Renewed, &r.Term)
	return r, err
}

func (s *Singleton) step(ctx context.Context) (bool, error) {
	cur, err := s.load(ctx)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		tag, err := s.pool.Exec(ctx, `
			INSERT INTO leader (name, holder, renewed_at, term) VALUES ($1, $2, now(), 1)
			ON CONFLICT (name) DO NOTHING`, s.name, s.self)
		if err != nil || tag.RowsAffected() == 0 {
			return false, err
		}
		s.term = 1
		return true, nil
	case err != nil:
		return false, err
	case cur.Holder != s.self && cur.silentFor() < s.grace: // may:T
		return false, nil
	}
	tag, err := s.pool.Exec(ctx,
		`UPDATE leader SET holder = $3, renewed_at = now(), term = term + 1 WHERE name = $1 AND term = $2`,
		s.name, cur.Term, s.self)
	if err != nil || tag.RowsAffected() == 0 {
		return false, err
	}
	s.term = cur.Term + 1
	return true, nil
}

// Watch logs who is active; the caller starts and stops the gateway.
func (s *Singleton) Watch(ctx context.Context, active chan<- bool) error {
	t := time.NewTicker(s.grace / 4)
	defer t.Stop()
	for {
		ok, err := s.step(ctx)
		if err != nil {
			slog.Warn("leader step", "err", err)
			ok = false
		}
		select {
		case active <- ok:
		case <-ctx.Done():
			return ctx.Err()
		}
		<-t.C
	}
}
