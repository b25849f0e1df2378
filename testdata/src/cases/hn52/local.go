package hn52

import (
	"context"
	"database/sql"
	"sync"
)

// Locker has one implementation, in this process; nothing is distributed.
type Locker interface {
	TryLock(name string) (unlock func(), ok bool)
}

type striped struct {
	mu  sync.Mutex
	all map[string]*sync.Mutex
}

func (s *striped) TryLock(name string) (func(), bool) {
	s.mu.Lock()
	m, ok := s.all[name]
	if !ok {
		m = new(sync.Mutex)
		s.all[name] = m
	}
	s.mu.Unlock()
	if !m.TryLock() {
		return nil, false
	}
	return m.Unlock, true
}

type Config struct{ Leader bool }

type Files struct {
	db   *sql.DB
	lock Locker
	cfg  Config
}

func New(db *sql.DB, c Config) *Files {
	return &Files{db: db, lock: &striped{all: map[string]*sync.Mutex{}}, cfg: c}
}

func (f *Files) Rename(ctx context.Context, id, name string) error {
	unlock, ok := f.lock.TryLock(id)
	if !ok {
		return context.DeadlineExceeded
	}
	defer unlock()
	_, err := f.db.ExecContext(ctx, `UPDATE files SET name = ? WHERE id = ?`, name, id)
	return err
}

// Prune runs where the operator configured it.
func (f *Files) Prune(ctx context.Context) error {
	if !f.cfg.Leader {
		return nil
	}
	_, err := f.db.ExecContext(ctx, `DELETE FROM files WHERE trashed`)
	return err
}
