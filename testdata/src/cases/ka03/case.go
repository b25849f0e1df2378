// Package ka03 keeps the coordinator role of a search cluster in etcd.
package ka03

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

var ErrNotCoordinator = errors.New("this node is not the coordinator")

const prefix = "/search/coordinator"

type Coordinator struct {
	cli  *clientv3.Client
	node string
	elec *concurrency.Election
}

func New(cli *clientv3.Client, s *concurrency.Session, node string) *Coordinator {
	return &Coordinator{cli: cli, node: node, elec: concurrency.NewElection(s, prefix)}
}

func (c *Coordinator) Campaign(ctx context.Context) error {
	return c.elec.Campaign(ctx, c.node)
}

// current returns the key of the role and who it names.
func (c *Coordinator) current(ctx context.Context) (key, node string, err error) {
	resp, err := c.cli.Get(ctx, prefix, clientv3.WithFirstCreate()...)
	if err != nil {
		return "", "", err
	}
	if len(resp.Kvs) == 0 {
		return "", "", concurrency.ErrElectionNoLeader
	}
	return string(resp.Kvs[0].Key), string(resp.Kvs[0].Value), nil
}

// StepDown gives the role back, if it is ours.
func (c *Coordinator) StepDown(ctx context.Context) error {
	key, node, err := c.current(ctx)
	if err != nil {
		return err
	}
	if node != c.node {
		return ErrNotCoordinator
	}
	if _, err := c.cli.Delete(ctx, key); err != nil { // want:C|W
		return fmt.Errorf("delete coordinator key: %w", err)
	}
	return nil
}

// Assign stores where a shard lives. Only the coordinator assigns.
func (c *Coordinator) Assign(ctx context.Context, shard int, target string) error {
	_, node, err := c.current(ctx)
	if err != nil {
		return err
	}
	if node != c.node {
		return ErrNotCoordinator
	}
	_, err = c.cli.Put(ctx, fmt.Sprintf("/search/shards/%d", shard), target) // want:C|W
	return err
}
