package vn06

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

var ErrDeposed = errors.New("deposed")

// Allocator hands out id ranges. The elected node's writes hold only while its
// election key has the revision it was elected with.
type Allocator struct {
	cli  *clientv3.Client
	node string
}

type term struct {
	cli *clientv3.Client
	key string
	rev int64
}

func (t term) put(ctx context.Context, key, val string) error {
	resp, err := t.cli.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(t.key), "=", t.rev)).
		Then(clientv3.OpPut(key, val)).
		Commit()
	if err != nil {
		return err
	}
	if !resp.Succeeded {
		return ErrDeposed
	}
	return nil
}

func (a *Allocator) Lead(ctx context.Context) error {
	s, err := concurrency.NewSession(a.cli, concurrency.WithTTL(10))
	if err != nil {
		return err
	}
	defer s.Close()
	e := concurrency.NewElection(s, "/alloc/leader")
	if err := e.Campaign(ctx, a.node); err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-s.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	return a.extend(ctx, term{a.cli, e.Key(), e.Rev()})
}

func (a *Allocator) extend(ctx context.Context, t term) error {
	resp, err := a.cli.Get(ctx, "/alloc/high")
	if err != nil {
		return err
	}
	var high int64
	if len(resp.Kvs) > 0 {
		if high, err = strconv.ParseInt(string(resp.Kvs[0].Value), 10, 64); err != nil {
			return err
		}
	}
	for {
		high += 1000
		if err := t.put(ctx, "/alloc/high", strconv.FormatInt(high, 10)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}
