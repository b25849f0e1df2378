// Package hy10 locks a repository directory on a network share.
package hy10

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const staleAfter = 30 * time.Minute

var ErrLocked = errors.New("repository is locked")

type lockInfo struct {
	Time     time.Time `json:"time"`
	Hostname string    `json:"hostname"`
	PID      int       `json:"pid"`
}

type Lock struct {
	path string
	info lockInfo
}

func (i lockInfo) stale() bool {
	age := time.Since(i.Time) // want:T
	return age > staleAfter   // may:T
}

func read(path string) (lockInfo, error) {
	var i lockInfo
	b, err := os.ReadFile(path)
	if err != nil {
		return i, err
	}
	return i, json.Unmarshal(b, &i)
}

// Acquire creates the lock file; a file whose owner has not refreshed it for
// half an hour is removed first.
func Acquire(repo string) (*Lock, error) {
	path := filepath.Join(repo, "lock.json")
	cur, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case !cur.stale(): // may:T
		return nil, fmt.Errorf("%w by %s (pid %d)", ErrLocked, cur.Hostname, cur.PID)
	default:
		if err := os.Remove(path); err != nil { // may:C|W
			return nil, err
		}
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	l := &Lock{path: path, info: lockInfo{Hostname: host, PID: os.Getpid()}}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l.info.Time = time.Now()
	return l, json.NewEncoder(f).Encode(l.info)
}

// Refresh rewrites the time stamp.
func (l *Lock) Refresh() error {
	l.info.Time = time.Now()
	b, err := json.Marshal(l.info)
	if err != nil {
		return err
	}
	return os.WriteFile(l.path, b, 0o644) // may:C|W
}
