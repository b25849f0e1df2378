package wn09

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	ttl    = 20 * time.Second
	margin = 3 * time.Second
)

// Elector trusts its term from before the request was sent, on the monotonic
// clock of this process; the row's own end is judged by the database.
type Elector struct {
	pool *pgxpool.Pool
	self string

	mu    sync.Mutex
	until time.Time
	term  int64
}

const claimTerm = `
INSERT INTO gateway_leader AS l (id, holder, term, expires_at)
VALUES (1, $1, 1, now() + make_interval(secs => $2))
ON CONFLICT (id) DO UPDATE SET holder = EXCLUDED.holder, term = l.term + 1, expires_at = EXCLUDED.expires_at
WHERE l.expires_at < now()
RETURNING term`

const renewTerm = `
UPDATE gateway_leader SET expires_at = now() + make_interval(secs => $1)
WHERE id = 1 AND holder = $2 AND term = $3 AND expires_at >= now()
RETURNING term`

func (e *Elector) trusted() (int64, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.term, time.Now().Before(e.until)
}

func (e *Elector) set(sent time.Time, term int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.term, e.until = term, sent.Add(ttl-margin)
}

// step claims or renews, and reports whether this node leads now.
func (e *Elector) step(ctx context.Context) bool { // may:M
	ctx, cancel := context.WithTimeout(ctx, margin)
	defer cancel()
	sent := time.Now()
	term, ok := e.trusted()
	var err error
	if ok {
		err = e.pool.QueryRow(ctx, renewTerm, ttl.Seconds(), e.self, term).Scan(&term)
	} else {
		err = e.pool.QueryRow(ctx, claimTerm, e.self, ttl.Seconds()).Scan(&term)
	}
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		e.set(time.Time{}, 0)
		return false
	case err != nil:
		slog.Warn("election", "err", err)
		_, ok = e.trusted()
		return ok
	}
	e.set(sent, term)
	return true
}

// Lead serves while the term is trusted; serve only answers reads.
func (e *Elector) Lead(ctx context.Context, serve func(context.Context)) { // may:M
	for ctx.Err() == nil {
		if !e.step(ctx) {
			time.Sleep(ttl / 5)
			continue
		}
		sctx, cancel := context.WithCancel(ctx)
		go serve(sctx)
		for e.step(ctx) {
			time.Sleep(margin)
		}
		cancel()
	}
}
