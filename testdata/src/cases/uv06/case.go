package uv06

import (
	"context"
	"encoding/json"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// placement maps a partition to the broker that serves it.
type placement struct {
	Partition int    `json:"partition"`
	Broker    string `json:"broker"`
	Epoch     int64  `json:"epoch"`
}

type Controller struct {
	etcd *clientv3.Client
	root string
	id   string
	plan func(context.Context) ([]placement, error)
}

// Run campaigns for the controller key and reassigns partitions on request.
func (c *Controller) Run(ctx context.Context, kick <-chan struct{}) error {
	s, err := concurrency.NewSession(c.etcd, concurrency.WithTTL(8), concurrency.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	defer s.Close()
	election := concurrency.NewElection(s, c.root+"/controller")
	if err := election.Campaign(ctx, c.id); err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.Done():
			return concurrency.ErrSessionExpired
		case <-kick:
		}
		ps, err := c.plan(ctx)
		if err != nil {
			return err
		}
		if err := c.store(ctx, ps); err != nil { // may:C|W
			return err
		}
	}
}

// store writes all placements at once, but under no condition: planning may
// have taken longer than the session lived.
func (c *Controller) store(ctx context.Context, ps []placement) error {
	ops := make([]clientv3.Op, 0, len(ps))
	for _, p := range ps {
		raw, err := json.Marshal(p)
		if err != nil {
			return err
		}
		ops = append(ops, clientv3.OpPut(fmt.Sprintf("%s/placement/%d", c.root, p.Partition), string(raw)))
	}
	_, err := c.etcd.Txn(ctx).Then(ops...).Commit() // want:W|C
	return err
}
