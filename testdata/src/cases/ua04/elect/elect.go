// Package elect campaigns for one role in etcd.
package elect

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

type Elector struct {
	cli  *clientv3.Client
	role string
	node string
	on   atomic.Bool
}

func New(cli *clientv3.Client, role, node string) *Elector {
	return &Elector{cli: cli, role: role, node: node}
}

// Leading tells whether this node won the last campaign.
func (e *Elector) Leading() bool { return e.on.Load() }

// Run campaigns until ctx ends.
func (e *Elector) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := e.once(ctx); err != nil {
			slog.Warn("campaign", "role", e.role, "err", err)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
}

func (e *Elector) once(ctx context.Context) error {
	s, err := concurrency.NewSession(e.cli, concurrency.WithTTL(10), concurrency.WithContext(ctx))
	if err != nil {
		return err
	}
	defer s.Close()
	el := concurrency.NewElection(s, "/roles/"+e.role)
	if err := el.Campaign(ctx, e.node); err != nil {
		return err
	}
	e.on.Store(true)
	defer e.on.Store(false)
	select {
	case <-s.Done():
	case <-ctx.Done():
	}
	return nil
}
