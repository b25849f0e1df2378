// Package kc04 stores routing tables in etcd, always under the owner's key.
package kc04

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

var ErrDeposed = errors.New("router is not the owner any more")

type Router struct {
	cli  *clientv3.Client
	elec *concurrency.Election
	name string
}

func (r *Router) leads(ctx context.Context) (bool, error) {
	resp, err := r.elec.Leader(ctx)
	if errors.Is(err, concurrency.ErrElectionNoLeader) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return string(resp.Kvs[0].Value) == r.name, nil
}

// commit applies ops only while our campaign key still exists.
func (r *Router) commit(ctx context.Context, ops ...clientv3.Op) error {
	mine := clientv3.Compare(clientv3.CreateRevision(r.elec.Key()), "=", r.elec.Rev())
	resp, err := r.cli.Txn(ctx).If(mine).Then(ops...).Commit()
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if !resp.Succeeded {
		return ErrDeposed
	}
	return nil
}

// SetRoutes is refused early when somebody else leads.
func (r *Router) SetRoutes(ctx context.Context, routes map[string]string) error {
	ok, err := r.leads(ctx)
	if err != nil {
		return err
	}
	if !ok {
		return ErrDeposed
	}
	ops := make([]clientv3.Op, 0, len(routes))
	for host, backend := range routes {
		ops = append(ops, clientv3.OpPut("/routes/"+host, backend))
	}
	return r.commit(ctx, ops...)
}

func (r *Router) Drop(ctx context.Context, host string) error {
	ok, err := r.leads(ctx)
	if err != nil || !ok {
		return errors.Join(err, ErrDeposed)
	}
	return r.commit(ctx, clientv3.OpDelete("/routes/"+host))
}
