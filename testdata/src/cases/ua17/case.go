// Package ua17 spreads partitions over brokers.
package ua17

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

type Balancer struct {
	cli  *clientv3.Client
	root string
}

type placement struct {
	Partition int    `json:"partition"`
	Broker    string `json:"broker"`
}

// Once makes one round, unless another controller is in the middle of one.
func (b *Balancer) Once(ctx context.Context, partitions int) error {
	s, err := concurrency.NewSession(b.cli, concurrency.WithTTL(20), concurrency.WithContext(ctx))
	if err != nil {
		return err
	}
	defer s.Close()

	m := concurrency.NewMutex(s, b.root+"/round")
	switch err := m.TryLock(ctx); {
	case errors.Is(err, concurrency.ErrLocked):
		return nil
	case err != nil:
		return fmt.Errorf("round: %w", err)
	}
	defer func() { _ = m.Unlock(context.WithoutCancel(ctx)) }()

	brokers, err := b.brokers(ctx)
	if err != nil {
		return err
	}
	if len(brokers) == 0 {
		return errors.New("no brokers")
	}
	var ops []clientv3.Op
	for p := range partitions {
		raw, err := json.Marshal(placement{Partition: p, Broker: brokers[p%len(brokers)]})
		if err != nil {
			return err
		}
		ops = append(ops, clientv3.OpPut(fmt.Sprintf("%s/partitions/%05d", b.root, p), string(raw)))
	}
	for len(ops) > 0 {
		n := min(len(ops), 100)
		if _, err := b.cli.Txn(ctx).Then(ops[:n]...).Commit(); err != nil { // want:C
			return fmt.Errorf("store placement: %w", err)
		}
		ops = ops[n:]
	}
	return nil
}

func (b *Balancer) brokers(ctx context.Context) ([]string, error) {
	resp, err := b.cli.Get(ctx, b.root+"/brokers/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return nil, err
	}
	out := make([]string, 0, resp.Count)
	for _, kv := range resp.Kvs {
		out = append(out, strings.TrimPrefix(string(kv.Key), b.root+"/brokers/"))
	}
	sort.Strings(out)
	return out, nil
}
