package ue25

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var ErrLeaseLost = errors.New("lease lost")

const renewLease = `
UPDATE feed_lease SET valid_until = now() + make_interval(secs => $3)
WHERE feed = $1 AND holder = $2 AND valid_until > now()
RETURNING token`

// Holder remembers how long it may go on without asking the database.
type Holder struct {
	pool   *pgxpool.Pool
	feed   string
	id     string
	ttl    time.Duration
	margin time.Duration

	mu         sync.Mutex
	token      int64
	leaseUntil time.Time
}

// Renew extends the lease; the window starts before the request is sent.
func (h *Holder) Renew(ctx context.Context) error {
	started := time.Now().UTC() // may:T
	var tok int64
	err := h.pool.QueryRow(ctx, renewLease, h.feed, h.id, h.ttl.Seconds()).Scan(&tok)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrLeaseLost
	}
	if err != nil {
		return fmt.Errorf("renew %s: %w", h.feed, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.token = tok
	h.leaseUntil = started.Add(h.ttl - h.margin) // may:T
	return nil
}

// Held is asked before every batch.
func (h *Holder) Held() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Before(h.leaseUntil) // want:T
}

// Budget is the time the next batch may take.
func (h *Holder) Budget() (time.Duration, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	left := time.Until(h.leaseUntil) // want:T
	if left <= 0 {                   // may:T
		return 0, ErrLeaseLost
	}
	return left, nil
}
