package uc19

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	freshFor = 5 * time.Second
	poll     = 250 * time.Millisecond
)

// lockMeta is the content of a lock file on a shared volume; the holder
// rewrites Updated while it works.
type lockMeta struct {
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// FileStorage keeps certificates on a network file system that several hosts mount.
type FileStorage struct {
	dir  string
	host string
}

func (s *FileStorage) lockFile(name string) string {
	return filepath.Join(s.dir, "locks", name+".lock")
}

func (s *FileStorage) Lock(ctx context.Context, name string) error {
	path := s.lockFile(name)
	for {
		err := s.create(path)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		meta, err := readMeta(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case stale(meta):
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // may:C
				return err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(poll):
		}
	}
}

func stale(m lockMeta) bool {
	last := m.Updated
	if last.IsZero() {
		last = m.Created
	}
	return time.Since(last) > 2*freshFor // want:T
}

func (s *FileStorage) create(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	now := time.Now()
	return json.NewEncoder(f).Encode(lockMeta{Host: s.host, PID: os.Getpid(), Created: now, Updated: now}) // may:T
}

func readMeta(path string) (m lockMeta, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(b, &m)
}
