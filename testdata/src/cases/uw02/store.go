package uw02

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

var ErrStale = errors.New("another scheduler has taken over")

// The tables live in a schema of the tenant, which is known at run time only.
const (
	table = `%s.schedule_entry`

	fired      = `UPDATE ` + table + ` SET last_run = $2, next_run = $3, fence = $4 WHERE name = $1 AND fence <= $4`
	reschedule = `UPDATE ` + table + ` SET spec = $2, next_run = $3 WHERE name = $1`
	remove     = `DELETE FROM ` + table + ` WHERE name = $1`
)

// Store is used by the scheduler that holds the tenant's shard.
type Store struct {
	db     *sql.DB
	schema string
	token  int64
}

func New(db *sql.DB, tenant string, token int64) *Store {
	return &Store{db: db, schema: "tenant_" + tenant, token: token}
}

func (s *Store) exec(ctx context.Context, q string, args ...any) error {
	res, err := s.db.ExecContext(ctx, fmt.Sprintf(q, s.schema), args...)
	if err != nil {
		return fmt.Errorf("schedule store: %w", err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrStale
	}
	return nil
}

// Fired records a run; it is refused once a newer scheduler wrote the row.
func (s *Store) Fired(ctx context.Context, name string, at, next time.Time) error {
	return s.exec(ctx, fired, name, at, next, s.token)
}

func (s *Store) Reschedule(ctx context.Context, name, spec string, next time.Time) error {
	return s.exec(ctx, reschedule, name, spec, next) // want:W
}

func (s *Store) Remove(ctx context.Context, names ...string) error {
	for _, n := range names {
		if err := s.exec(ctx, remove, n); err != nil { // want:W
			return err
		}
	}
	return nil
}
