// Package leader decides which node is active.
package leader

import (
	"context"
	"fmt"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

type Candidate struct {
	cli    *clientv3.Client
	path   string
	active atomic.Bool
}

func NewCandidate(cli *clientv3.Client, path string) *Candidate {
	return &Candidate{cli: cli, path: path}
}

// IsActive reports the state as of the last event.
func (c *Candidate) IsActive() bool { return c.active.Load() }

func (c *Candidate) Run(ctx context.Context, id string) error {
	s, err := concurrency.NewSession(c.cli, concurrency.WithTTL(15))
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	defer s.Close()
	e := concurrency.NewElection(s, c.path)
	if err := e.Campaign(ctx, id); err != nil { // may:M
		return fmt.Errorf("campaign: %w", err)
	}
	c.active.Store(true)
	defer c.active.Store(false)
	select {
	case <-s.Done():
		return nil
	case <-ctx.Done():
		return e.Resign(context.WithoutCancel(ctx))
	}
}
