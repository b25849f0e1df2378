package ub03

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// Balancer spreads partitions over members. The elected one writes the map.
type Balancer struct {
	cli    *clientv3.Client
	prefix string
	node   string
}

type placement struct {
	Members []string       `json:"members"`
	Slots   map[int]string `json:"slots"`
}

func (b *Balancer) Run(ctx context.Context, slots int) error {
	sess, err := concurrency.NewSession(b.cli, concurrency.WithTTL(15))
	if err != nil {
		return err
	}
	defer sess.Close()
	el := concurrency.NewElection(sess, b.prefix+"/leader")
	if err := el.Campaign(ctx, b.node); err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	defer func() { _ = el.Resign(context.WithoutCancel(ctx)) }()

	lctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make(chan error, 1)
	go func() { errs <- b.rebalance(lctx, slots) }()
	select {
	case <-sess.Done():
		return fmt.Errorf("session of %s ended", b.node)
	case err := <-errs:
		return err
	}
}

func (b *Balancer) rebalance(ctx context.Context, slots int) error {
	for {
		m, err := b.members(ctx)
		if err != nil {
			return err
		}
		p := placement{Members: m, Slots: make(map[int]string, slots)}
		for i := range slots {
			if len(m) > 0 {
				p.Slots[i] = m[i%len(m)]
			}
		}
		if err := b.publish(ctx, p); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Second):
		}
	}
}

func (b *Balancer) members(ctx context.Context) ([]string, error) {
	resp, err := b.cli.Get(ctx, b.prefix+"/members/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return nil, err
	}
	out := make([]string, 0, len(resp.Kvs))
	for _, kv := range resp.Kvs {
		out = append(out, string(kv.Key))
	}
	sort.Strings(out)
	return out, nil
}

func (b *Balancer) publish(ctx context.Context, p placement) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = b.cli.Put(ctx, b.prefix+"/placement", string(raw)) // want:C
	return err
}
