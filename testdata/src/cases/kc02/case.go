// Package kc02 elects a compactor; the trust window is counted locally.
package kc02

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	leaseTTL = 20 * time.Second
	margin   = 5 * time.Second
)

var errDeposed = errors.New("compactor was deposed")

type Term struct {
	number int64
	until  time.Time // monotonic, earlier than the row's expiry
}

type Elector struct {
	pool *pgxpool.Pool
	id   string
}

func (e *Elector) campaign(ctx context.Context) (Term, error) {
	sent := time.Now()
	var t Term
	err := e.pool.QueryRow(ctx,
		`UPDATE compactor_lease SET holder = $1, term = term + 1, expires_at = now() + interval '20 seconds'
		 WHERE name = 'compactor' AND (expires_at < now() OR holder = '') RETURNING term`, e.id).Scan(&t.number)
	t.until = sent.Add(leaseTTL - margin)
	return t, err
}

func (e *Elector) renew(ctx context.Context, t Term) (Term, error) {
	ctx, cancel := context.WithDeadline(ctx, t.until)
	defer cancel()
	sent := time.Now()
	tag, err := e.pool.Exec(ctx,
		`UPDATE compactor_lease SET expires_at = now() + interval '20 seconds' WHERE name = 'compactor' AND holder = $1 AND term = $2`,
		e.id, t.number)
	if err != nil {
		return t, err
	}
	if tag.RowsAffected() != 1 {
		return t, errDeposed
	}
	t.until = sent.Add(leaseTTL - margin)
	return t, nil
}

// Lead runs work until the term ends.
func (e *Elector) Lead(ctx context.Context, work func(ctx context.Context, term int64)) error {
	t, err := e.campaign(ctx)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if !time.Now().Before(t.until) {
		return errDeposed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go work(ctx, t.number)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(leaseTTL/4, time.Until(t.until)/2)):
		}
		if t, err = e.renew(ctx, t); err != nil {
			return err
		}
	}
}
