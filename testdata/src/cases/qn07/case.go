package qn07

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

var (
	ErrNotLeader = errors.New("not the leader")
	ErrConflict  = errors.New("key was changed")
)

// Registry is written by the elected node only.
type Registry struct {
	client *clientv3.Client
	prefix string
	lead   *concurrency.Election
}

// leading is true in the store for as long as the election key is this one.
func (r *Registry) leading() clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(r.lead.Key()), "=", r.lead.Rev())
}

func (r *Registry) commit(ctx context.Context, ops ...clientv3.Op) error {
	txn := r.client.Txn(ctx).If(r.leading()).Then(ops...)
	resp, err := txn.Commit()
	if err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	if !resp.Succeeded {
		return ErrNotLeader
	}
	return nil
}

func (r *Registry) Set(ctx context.Context, service, addr string) error {
	return r.commit(ctx, clientv3.OpPut(r.prefix+service, addr))
}

func (r *Registry) Unset(ctx context.Context, service string) error {
	return r.commit(ctx, clientv3.OpDelete(r.prefix+service), clientv3.OpDelete(r.prefix+service+"/health", clientv3.WithPrefix()))
}

// Swap changes a key from the version that was read; any node may call it.
func (r *Registry) Swap(ctx context.Context, old *mvccpb.KeyValue, addr string) error {
	key := string(old.Key)
	resp, err := r.client.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(key), "=", old.ModRevision)).
		Then(clientv3.OpPut(key, addr)).
		Else(clientv3.OpGet(key)).
		Commit()
	switch {
	case err != nil:
		return err
	case !resp.Succeeded:
		return ErrConflict
	}
	return nil
}
