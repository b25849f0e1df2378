package wn02

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

var ErrDeposed = errors.New("no longer leading")

type Route struct {
	Host    string `json:"host"`
	Backend string `json:"backend"`
}

// Registry is written by the elected control node; every transaction names the
// key that the campaign created, by its revision.
type Registry struct {
	cli    *clientv3.Client
	prefix string
	term   *concurrency.Election
}

func Lead(ctx context.Context, cli *clientv3.Client, node string, work func(context.Context, *Registry) error) error {
	sess, err := concurrency.NewSession(cli)
	if err != nil {
		return err
	}
	defer sess.Close()
	el := concurrency.NewElection(sess, "/edge/leader")
	if err := el.Campaign(ctx, node); err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	wctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case <-sess.Done():
			stop(ErrDeposed)
		case <-wctx.Done():
		}
	}()
	return work(wctx, &Registry{cli: cli, prefix: "/edge/routes/", term: el})
}

func (r *Registry) leading() clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(r.term.Key()), "=", r.term.Rev())
}

func (r *Registry) apply(ctx context.Context, ops ...clientv3.Op) error {
	resp, err := r.cli.Txn(ctx).If(r.leading()).Then(ops...).Commit()
	if err != nil {
		return err
	}
	if !resp.Succeeded {
		return ErrDeposed
	}
	return nil
}

func (r *Registry) Put(ctx context.Context, rt Route) error {
	b, err := json.Marshal(rt)
	if err != nil {
		return err
	}
	return r.apply(ctx, clientv3.OpPut(r.prefix+rt.Host, string(b)))
}

func (r *Registry) Prune(ctx context.Context, hosts []string) error {
	ops := make([]clientv3.Op, 0, len(hosts))
	for _, h := range hosts {
		ops = append(ops, clientv3.OpDelete(r.prefix+h))
	}
	return r.apply(ctx, ops...)
}
