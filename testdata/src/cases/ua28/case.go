// Package ua28 is a lock file on a shared file system, for hosts that have
// nothing else in common.
package ua28

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

type lockInfo struct {
	Host      string    `json:"host"`
	PID       int       `json:"pid"`
	Refreshed time.Time `json:"refreshed"`
}

type FileLock struct {
	path string
	beat time.Duration
	stop chan struct{}
}

func New(path string) *FileLock { return &FileLock{path: path, beat: 5 * time.Second} }

func (l *FileLock) info() ([]byte, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return json.Marshal(lockInfo{Host: host, PID: os.Getpid(), Refreshed: time.Now()})
}

func (l *FileLock) read() (i lockInfo, err error) {
	raw, err := os.ReadFile(l.path)
	if err != nil {
		return i, err
	}
	return i, json.Unmarshal(raw, &i)
}

func (l *FileLock) isStale(i lockInfo) bool {
	return time.Since(i.Refreshed) > 2*l.beat // want:T
}

func (l *FileLock) create() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	raw, err := l.info()
	if err != nil {
		return err
	}
	if _, err := f.Write(raw); err != nil { // may:C
		return err
	}
	return f.Sync()
}

// Lock returns once the file is ours.
func (l *FileLock) Lock(ctx context.Context) error {
	for {
		err := l.create()
		if err == nil {
			l.stop = make(chan struct{})
			go l.keepFresh()
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("lock file: %w", err)
		}
		cur, err := l.read()
		if err == nil && l.isStale(cur) {
			_ = os.Remove(l.path) // may:C
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

func (l *FileLock) keepFresh() {
	t := time.NewTicker(l.beat)
	defer t.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-t.C:
			raw, err := l.info()
			if err == nil {
				_ = os.WriteFile(l.path, raw, 0o644) // may:C
			}
		}
	}
}

func (l *FileLock) Unlock() error {
	close(l.stop)
	return os.Remove(l.path) // may:C
}
