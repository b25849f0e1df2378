// Package ha elects one active node.
package ha

import (
	"context"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

type Elector struct {
	client *clientv3.Client
	name   string
	node   string
	active atomic.Bool
}

func (e *Elector) IsActive() bool { return e.active.Load() }

// Run campaigns and stays active until the session ends.
func (e *Elector) Run(ctx context.Context) error {
	sess, err := concurrency.NewSession(e.client, concurrency.WithTTL(15))
	if err != nil {
		return err
	}
	defer sess.Close()
	el := concurrency.NewElection(sess, e.name)
	if err := el.Campaign(ctx, e.node); err != nil { // may:M
		return err
	}
	e.active.Store(true)
	defer e.active.Store(false)
	select {
	case <-sess.Done():
		return nil
	case <-ctx.Done():
		return el.Resign(context.WithoutCancel(ctx))
	}
}
