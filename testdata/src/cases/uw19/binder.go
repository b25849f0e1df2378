package uw19

import (
	"context"
	"encoding/json"
	"errors"
	"path"

	clientv3 "go.etcd.io/etcd/client/v3"
)

var ErrDeposed = errors.New("this scheduler was deposed")

type Binding struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
}

// Binder stores the decisions of the elected scheduler.
type Binder struct {
	kv     clientv3.KV
	prefix string
	leader string // election key
	rev    int64  // its creation revision
}

func (b *Binder) key(pod string) string { return path.Join(b.prefix, "bindings", pod) }

// Bind is applied only while the election key is still ours.
func (b *Binder) Bind(ctx context.Context, x Binding) error {
	raw, err := json.Marshal(x)
	if err != nil {
		return err
	}
	resp, err := b.kv.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(b.leader), "=", b.rev)).
		Then(clientv3.OpPut(b.key(x.Pod), string(raw))).
		Commit()
	if err != nil {
		return err
	}
	if !resp.Succeeded {
		return ErrDeposed
	}
	return nil
}

// Swap exchanges two pods atomically: atomic, and without any condition.
func (b *Binder) Swap(ctx context.Context, x, y Binding) error {
	x.Node, y.Node = y.Node, x.Node
	var ops []clientv3.Op
	for _, v := range []Binding{x, y} {
		raw, err := json.Marshal(v)
		if err != nil {
			return err
		}
		ops = append(ops, clientv3.OpPut(b.key(v.Pod), string(raw)))
	}
	_, err := b.kv.Txn(ctx).Then(ops...).Commit() // want:W
	return err
}

// Evict drops all bindings below a name.
func (b *Binder) Evict(ctx context.Context, pods string) (int64, error) {
	resp, err := b.kv.Delete(ctx, b.key(pods), clientv3.WithPrefix()) // want:W
	if err != nil {
		return 0, err
	}
	return resp.Deleted, nil
}
