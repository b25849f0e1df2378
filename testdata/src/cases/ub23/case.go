package ub23

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// FileStorage shares a directory between hosts; a lock file per name carries
// the time of its last refresh.
type FileStorage struct{ root string }

type lockMeta struct {
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

const (
	refreshEvery = 5 * time.Second
	pollEvery    = time.Second
)

func (s *FileStorage) lockFile(name string) string {
	return filepath.Join(s.root, "locks", name+".lock")
}

func (m lockMeta) stale() bool {
	ref := m.Updated
	if ref.IsZero() {
		ref = m.Created
	}
	return time.Since(ref) > 2*refreshEvery // want:T
}

func (s *FileStorage) create(name string) error {
	f, err := os.OpenFile(s.lockFile(name), os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	now := time.Now()
	err = json.NewEncoder(f).Encode(lockMeta{Host: host, PID: os.Getpid(), Created: now, Updated: now}) // may:T
	return errors.Join(err, f.Close())
}

func (s *FileStorage) Lock(ctx context.Context, name string) error {
	for {
		err := s.create(name)
		if err == nil {
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("lock %s: %w", name, err)
		}
		raw, err := os.ReadFile(s.lockFile(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		var m lockMeta
		if err := json.Unmarshal(raw, &m); err != nil {
			return fmt.Errorf("lock %s: %w", name, err)
		}
		if m.stale() {
			if err := os.Remove(s.lockFile(name)); err != nil && !errors.Is(err, fs.ErrNotExist) { // may:C
				return err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}
