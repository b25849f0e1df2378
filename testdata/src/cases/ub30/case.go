package ub30

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Holder owns a row of the lease table and remembers until when it may act.
type Holder struct {
	db   *sql.DB
	name string
	id   string
	ttl  time.Duration
	loc  *time.Location

	mu       sync.Mutex
	deadline time.Time
}

var ErrLost = errors.New("lease lost")

func NewHolder(db *sql.DB, name string, ttl time.Duration, loc *time.Location) *Holder {
	return &Holder{db: db, name: name, id: uuid.NewString(), ttl: ttl, loc: loc}
}

// Renew extends the row by the database's clock. Our own deadline counts from
// before the request; In() throws the monotonic reading away (nicer in logs).
func (h *Holder) Renew(ctx context.Context) error {
	sent := time.Now().In(h.loc)
	ctx, cancel := context.WithTimeout(ctx, h.ttl/4)
	defer cancel()
	res, err := h.db.ExecContext(ctx, `
		UPDATE lease SET holder = $2, valid_until = now() + make_interval(secs => $3)
		WHERE name = $1 AND (holder = $2 OR valid_until < now())`, h.name, h.id, h.ttl.Seconds())
	if err != nil {
		return fmt.Errorf("renew %s: %w", h.name, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrLost
	}
	h.mu.Lock()
	h.deadline = sent.Add(h.ttl * 3 / 4) // may:T
	h.mu.Unlock()
	return nil
}

// Held is asked before every step of the work.
func (h *Holder) Held() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Before(h.deadline) // want:T
}

// Run does steps while the lease is held.
func (h *Holder) Run(ctx context.Context, step func(context.Context) error) error {
	next := time.Now()
	for {
		if !time.Now().Before(next) {
			if err := h.Renew(ctx); err != nil && !h.Held() { // may:T
				return err
			}
			next = time.Now().Add(h.ttl / 4)
		}
		if !h.Held() { // may:T
			return ErrLost
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
}
