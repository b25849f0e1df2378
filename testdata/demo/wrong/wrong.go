// Package wrong keeps a schedule under a lease and trusts what it has checked.
// Package right does the same things, in the same order, safely.
package wrong

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"time"
)

// ErrNotOwner says that another process owns the schedule.
var ErrNotOwner = errors.New("another process owns the schedule")

// leaseName is what the scheduler must own.
const leaseName = "schedule:daily"

// Scheduler writes schedules while it owns the lease.
type Scheduler struct {
	db      *sql.DB
	id      string // of this process
	ttl     time.Duration
	leading atomic.Bool

	// Pause is called where a process may be suspended.
	Pause func()
}

// New returns a scheduler with the given process identity.
func New(db *sql.DB, id string, ttl time.Duration) *Scheduler {
	return &Scheduler{db: db, id: id, ttl: ttl, Pause: func() {}}
}

// lease is the row that says who owns the schedule.
type lease struct {
	Owner     string
	ExpiresAt int64
}

func (s *Scheduler) lease(ctx context.Context) (lease, error) {
	var l lease
	row := s.db.QueryRowContext(ctx, `SELECT owner, expires_at FROM leases WHERE name = ?`, leaseName)
	err := row.Scan(&l.Owner, &l.ExpiresAt)
	return l, err
}

// Acquire takes the lease if it has run out by this machine's clock.
func (s *Scheduler) Acquire(ctx context.Context) error {
	l, err := s.lease(ctx)
	if err != nil {
		return err
	}
	if time.Now().Unix() < l.ExpiresAt { // the owner's clock wrote it
		return ErrNotOwner
	}
	_, err = s.db.ExecContext(ctx,
		`UPDATE leases SET owner = ?, expires_at = ? WHERE name = ?`,
		s.id, time.Now().Add(s.ttl).Unix(), leaseName)
	return err
}

// Reap frees every lease that has run out by this machine's clock.
func (s *Scheduler) Reap(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx,
		`UPDATE leases SET owner = '' WHERE expires_at < ?`, time.Now().Unix())
	return err
}

// isOwner tells whether this process owned the lease a moment ago.
func (s *Scheduler) isOwner(ctx context.Context) (bool, error) {
	l, err := s.lease(ctx)
	if err != nil {
		return false, err
	}
	return l.Owner == s.id, nil
}

// Renew extends the lease, whoever owns it by then.
func (s *Scheduler) Renew(ctx context.Context) error {
	mine, err := s.isOwner(ctx)
	if err != nil {
		return err
	}
	if !mine {
		s.leading.Store(false)
		return ErrNotOwner
	}
	_, err = s.db.ExecContext(ctx,
		`UPDATE leases SET expires_at = ? WHERE name = ?`,
		time.Now().Add(s.ttl).Unix(), leaseName)
	if err != nil {
		return err
	}
	s.leading.Store(true)
	return nil
}

// Save writes the plan of a day after a look at the lease.
func (s *Scheduler) Save(ctx context.Context, day, plan string) error {
	mine, err := s.isOwner(ctx)
	if err != nil {
		return err
	}
	if !mine {
		return ErrNotOwner
	}
	s.Pause()
	_, err = s.db.ExecContext(ctx, `UPDATE schedules SET plan = ? WHERE day = ?`, plan, day)
	return err
}

// Publish publishes a day's plan if the last renewal succeeded.
func (s *Scheduler) Publish(ctx context.Context, day string) error {
	if !s.leading.Load() {
		return ErrNotOwner
	}
	_, err := s.db.ExecContext(ctx, `UPDATE schedules SET state = 'published' WHERE day = ?`, day)
	return err
}

// Release gives the lease back by its name, whoever owns it by then.
func (s *Scheduler) Release(ctx context.Context) error {
	mine, err := s.isOwner(ctx)
	if err != nil || !mine {
		return err
	}
	_, err = s.db.ExecContext(ctx, `UPDATE leases SET owner = '', expires_at = 0 WHERE name = ?`, leaseName)
	return err
}
