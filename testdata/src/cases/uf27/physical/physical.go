// Package physical stores encrypted entries.
package physical

import (
	"context"
	"errors"
	"path"

	clientv3 "go.etcd.io/etcd/client/v3"
)

type Op struct {
	Delete bool
	Key    string
	Value  []byte
}

// Backend is implemented for etcd here, and for files elsewhere.
type Backend interface {
	Put(ctx context.Context, key string, val []byte) error
	Transaction(ctx context.Context, ops []Op) error
}

type etcdBackend struct {
	kv   clientv3.KV
	root string
}

var _ Backend = (*etcdBackend)(nil)

func NewEtcd(cli *clientv3.Client, root string) Backend { return &etcdBackend{kv: cli.KV, root: root} }

func (b *etcdBackend) Put(ctx context.Context, key string, val []byte) error {
	_, err := b.kv.Put(ctx, path.Join(b.root, key), string(val)) // want:W
	return err
}

func (b *etcdBackend) Transaction(ctx context.Context, ops []Op) error {
	then := make([]clientv3.Op, 0, len(ops))
	for _, o := range ops {
		k := path.Join(b.root, o.Key)
		if o.Delete {
			then = append(then, clientv3.OpDelete(k))
		} else {
			then = append(then, clientv3.OpPut(k, string(o.Value)))
		}
	}
	resp, err := b.kv.Txn(ctx).Then(then...).Commit() // want:W
	if err != nil {
		return err
	}
	if !resp.Succeeded {
		return errors.New("transaction was not applied")
	}
	return nil
}
