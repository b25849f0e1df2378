package ue03

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"sort"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

var errDeposed = errors.New("session expired, not the balancer any more")

type placement struct {
	Partition int    `json:"partition"`
	Node      string `json:"node"`
}

// Balancer spreads partitions over nodes; one balancer is elected per cluster.
type Balancer struct {
	cli    *clientv3.Client
	prefix string
	node   string
	parts  int
}

// Rebalance campaigns, computes a layout and stores it.
func (b *Balancer) Rebalance(ctx context.Context) error {
	sess, err := concurrency.NewSession(b.cli, concurrency.WithTTL(10))
	if err != nil {
		return err
	}
	defer sess.Close()
	el := concurrency.NewElection(sess, path.Join(b.prefix, "balancer"))
	if err := el.Campaign(ctx, b.node); err != nil {
		return fmt.Errorf("campaign: %w", err)
	}

	nodes, err := b.members(ctx)
	if err != nil {
		return err
	}
	if len(nodes) == 0 {
		return errors.New("no members")
	}
	for p := range b.parts {
		select {
		case <-sess.Done():
			return errDeposed
		default:
		}
		raw, err := json.Marshal(placement{Partition: p, Node: nodes[p%len(nodes)]})
		if err != nil {
			return err
		}
		key := path.Join(b.prefix, "placement", fmt.Sprint(p))
		if _, err := b.cli.Put(ctx, key, string(raw)); err != nil { // want:C
			return fmt.Errorf("partition %d: %w", p, err)
		}
	}
	return el.Resign(ctx)
}

func (b *Balancer) members(ctx context.Context) ([]string, error) {
	resp, err := b.cli.Get(ctx, path.Join(b.prefix, "members")+"/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return nil, err
	}
	out := make([]string, 0, len(resp.Kvs))
	for _, kv := range resp.Kvs {
		out = append(out, path.Base(string(kv.Key)))
	}
	sort.Strings(out)
	return out, nil
}
