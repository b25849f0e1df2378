package uf04

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"
)

type FileType string

const (
	LockFile  FileType = "lock"
	IndexFile FileType = "index"
)

type Handle struct {
	Type FileType
	Name string
}

// Backend is a directory, an SFTP server or a bucket.
type Backend interface {
	List(ctx context.Context, t FileType, fn func(name string) error) error
	Save(ctx context.Context, h Handle, data []byte) error
	Remove(ctx context.Context, h Handle) error
}

var ErrAlreadyLocked = errors.New("repository is already locked")

type Repository struct {
	be   Backend
	lock string // name of our lock file
}

func Open(be Backend) *Repository { return &Repository{be: be, lock: uuid.NewString()} }

// onlyMine fails when a lock file of somebody else exists.
func (r *Repository) onlyMine(ctx context.Context) error {
	return r.be.List(ctx, LockFile, func(name string) error {
		if name != r.lock {
			return fmt.Errorf("%w: %s", ErrAlreadyLocked, name)
		}
		return nil
	})
}

type lockInfo struct {
	Time     time.Time `json:"time"`
	Hostname string    `json:"hostname"`
	PID      int       `json:"pid"`
}

// Lock looks for foreign lock files and adds ours: two processes can pass.
func (r *Repository) Lock(ctx context.Context) error {
	if err := r.onlyMine(ctx); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	buf, err := json.Marshal(lockInfo{Time: time.Now(), Hostname: host, PID: os.Getpid()})
	if err != nil {
		return err
	}
	return r.be.Save(ctx, Handle{LockFile, r.lock}, buf) // want:C|W
}

func (r *Repository) Unlock(ctx context.Context) error {
	return r.be.Remove(ctx, Handle{LockFile, r.lock}) // may:C|W
}
