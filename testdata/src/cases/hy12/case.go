package hy12

import (
	"context"
	"errors"
	"time"

	"example.com/corpus/cases/hy12/lockapi"
)

var ErrExpired = errors.New("lease expired during sync")

// Syncer copies directories while it has the lease of the target.
type Syncer struct {
	locks *lockapi.Client
	host  string
	lease *lockapi.Lease
}

func (s *Syncer) alive() bool {
	if s.lease == nil {
		return false
	}
	remaining := s.lease.ExpiresAt.Sub(time.Now()) // want:T
	return remaining > 5*time.Second               // may:T
}

func (s *Syncer) Sync(ctx context.Context, target string, files []string, push func(context.Context, string) error) error { // may:M
	l, err := s.locks.Acquire(ctx, target, s.host)
	if err != nil {
		return err
	}
	s.lease = l
	for _, f := range files {
		if !s.alive() { // may:T
			return ErrExpired
		}
		if err := push(ctx, f); err != nil {
			return err
		}
	}
	return nil
}
