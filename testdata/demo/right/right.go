// Package right keeps a schedule under a lease and lets the database compare at
// the moment of each write. Package wrong does the same things without.
package right

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fencelint/fence/fencedb"

	"example.com/demo/right/schedulesdb"
)

//go:generate go run github.com/fencelint/fence/cmd/fence gen

// ErrNotOwner says that another process owns the schedule.
var ErrNotOwner = errors.New("another process owns the schedule")

// leaseName is what the scheduler must own.
const leaseName = "schedule:daily"

// Scheduler writes schedules while it owns the lease.
type Scheduler struct {
	db      *sql.DB
	id      string // of this process
	ttl     time.Duration
	token   fencedb.Token // of the grant; larger than every earlier one
	leading atomic.Bool

	// Pause is called where a process may be suspended.
	Pause func()
}

// New returns a scheduler with the given process identity.
func New(db *sql.DB, id string, ttl time.Duration) *Scheduler {
	return &Scheduler{db: db, id: id, ttl: ttl, Pause: func() {}}
}

// Acquire takes the lease if it has run out by the database's clock. One
// statement decides and takes, and gives the new token.
func (s *Scheduler) Acquire(ctx context.Context) error {
	row := s.db.QueryRowContext(ctx,
		`UPDATE leases SET owner = ?, token = token + 1, expires_at = unixepoch() + ?
		 WHERE name = ? AND expires_at <= unixepoch()
		 RETURNING token`,
		s.id, int64(s.ttl.Seconds()), leaseName)
	var token int64
	err := row.Scan(&token)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotOwner
	}
	if err != nil {
		return err
	}
	s.token, err = fencedb.ExternalToken(leaseName, token)
	return err
}

// Reap frees every lease that has run out by the database's clock.
func (s *Scheduler) Reap(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx,
		`UPDATE leases SET owner = '' WHERE expires_at < unixepoch()`)
	return err
}

// Renew extends the lease if this grant still has it.
func (s *Scheduler) Renew(ctx context.Context) error {
	res, err := s.db.ExecContext(ctx,
		`UPDATE leases SET expires_at = unixepoch() + ?
		 WHERE name = ? AND owner = ? AND token = ? AND expires_at > unixepoch()`,
		int64(s.ttl.Seconds()), leaseName, s.id, s.token.Value())
	err = changed(res, err, ErrNotOwner)
	s.leading.Store(err == nil)
	return err
}

// schedules writes schedules under the token of the grant: the database rejects what a
// later owner has superseded.
func (s *Scheduler) schedules() *schedulesdb.SchedulesWriter {
	return schedulesdb.NewSchedulesWriter(s.db, s.token)
}

// Save writes the plan of a day unless a later owner has written it.
func (s *Scheduler) Save(ctx context.Context, day, plan string) error {
	s.Pause()
	return s.schedules().Update(ctx, schedulesdb.SchedulesKey{Day: day}, schedulesdb.SchedulesPatch{Plan: fencedb.Set(plan)})
}

// Publish publishes a day's plan unless a later owner has written it. The flag
// only saves a useless statement; the statement decides.
func (s *Scheduler) Publish(ctx context.Context, day string) error {
	if !s.leading.Load() {
		return ErrNotOwner
	}
	return s.schedules().Update(ctx, schedulesdb.SchedulesKey{Day: day}, schedulesdb.SchedulesPatch{State: fencedb.Set("published")})
}

// Release gives the lease back if this grant still has it. The row stays, and
// with it the last token.
func (s *Scheduler) Release(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx,
		`UPDATE leases SET owner = '', expires_at = 0 WHERE name = ? AND owner = ? AND token = ?`,
		leaseName, s.id, s.token.Value())
	return err
}

// changed returns err, or rejected if the statement changed no row.
func changed(res sql.Result, err, rejected error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return fmt.Errorf("counting changed rows: %w", err)
	}
	if n == 0 {
		return rejected
	}
	return nil
}
