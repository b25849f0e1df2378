package ue21

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const staleAfter = 30 * time.Minute

// Lock is the JSON file a backup process keeps in the repository while it
// works; it rewrites the file every few minutes.
type Lock struct {
	Time      time.Time `json:"time"`
	Exclusive bool      `json:"exclusive"`
	Hostname  string    `json:"hostname"`
	PID       int       `json:"pid"`

	path string
}

type Repo struct {
	dir  string
	host string
}

var ErrLocked = errors.New("repository is already locked")

func (r *Repo) load(path string) (*Lock, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	l := &Lock{path: path}
	if err := json.Unmarshal(raw, l); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return l, nil
}

// Stale reports whether the process that wrote the lock is gone.
func (l *Lock) Stale(host string) bool {
	if age := time.Since(l.Time); age > staleAfter { // want:T
		return true
	}
	if l.Hostname != host {
		return false
	}
	p, err := os.FindProcess(l.PID)
	if err != nil {
		return true
	}
	defer p.Release()
	return p.Signal(syscall.Signal(0)) != nil
}

// RemoveStale deletes locks nobody refreshes any more and returns the number
// of those that are still alive.
func (r *Repo) RemoveStale(ctx context.Context) (int, error) { // may:C|T
	paths, err := filepath.Glob(filepath.Join(r.dir, "locks", "*.json"))
	if err != nil {
		return 0, err
	}
	live := 0
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return live, err
		}
		l, err := r.load(p)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return live, err
		}
		if !l.Stale(r.host) {
			live++
			continue
		}
		if err := os.Remove(p); err != nil && !errors.Is(err, os.ErrNotExist) {
			return live, fmt.Errorf("remove stale lock: %w", err)
		}
	}
	return live, nil
}
