// Package un17 rebuilds statistics of one process's own tables. The locks are
// mutexes of the process, nobody else writes these rows.
package un17

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

var ErrInProgress = errors.New("rebuild in progress")

type Stats struct {
	db *sql.DB

	rebuild sync.Mutex
	lock    sync.RWMutex
	owner   map[string]string // table -> goroutine that works on it
	running atomic.Bool
}

func New(db *sql.DB) *Stats { return &Stats{db: db, owner: map[string]string{}} }

// Rebuild counts everything anew; a second call while it runs is refused.
func (s *Stats) Rebuild(ctx context.Context) error {
	if !s.rebuild.TryLock() {
		return ErrInProgress
	}
	defer s.rebuild.Unlock()
	rows, err := s.db.QueryContext(ctx, `SELECT kind, count(*) FROM stat_source GROUP BY kind`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var kind string
		var n int64
		if err := rows.Scan(&kind, &n); err != nil {
			return err
		}
		if _, err := s.db.ExecContext(ctx, `UPDATE stat_total SET n = ?, at = CURRENT_TIMESTAMP WHERE kind = ?`, n, kind); err != nil {
			return fmt.Errorf("kind %s: %w", kind, err)
		}
	}
	return rows.Err()
}

func (s *Stats) enter(table, who string) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if cur, ok := s.owner[table]; ok && cur != who {
		return false
	}
	s.owner[table] = who
	return true
}

func (s *Stats) leave(table string) {
	s.lock.Lock()
	delete(s.owner, table)
	s.lock.Unlock()
}

// Trim drops old rows of one table.
func (s *Stats) Trim(ctx context.Context, who string, keep time.Duration) error {
	if !s.enter("stat_sample", who) {
		return ErrInProgress
	}
	defer s.leave("stat_sample")
	_, err := s.db.ExecContext(ctx, `DELETE FROM stat_sample WHERE at < ?`, time.Now().Add(-keep).Unix())
	return err
}

// Daily starts a rebuild unless one was started by this process already.
func (s *Stats) Daily(ctx context.Context) error {
	if !s.running.CompareAndSwap(false, true) {
		return nil
	}
	defer s.running.Store(false)
	if _, err := s.db.ExecContext(ctx, `UPDATE stat_total SET yesterday = n`); err != nil {
		return err
	}
	return s.Rebuild(ctx)
}
