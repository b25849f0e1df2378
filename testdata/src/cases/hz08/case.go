package hz08

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

var ErrNotOwner = errors.New("no longer the owner of the lock")

// Allocator hands out address blocks. All of its writes are tied to the lock.
type Allocator struct {
	cli  *clientv3.Client
	root string
}

type txn struct {
	cli *clientv3.Client
	mu  *concurrency.Mutex
}

// commit applies ops only while the lock key still exists with our revision.
func (t *txn) commit(ctx context.Context, ops ...clientv3.Op) error {
	resp, err := t.cli.Txn(ctx).If(t.mu.IsOwner()).Then(ops...).Commit()
	if err != nil {
		return err
	}
	if !resp.Succeeded {
		return ErrNotOwner
	}
	return nil
}

func (a *Allocator) locked(ctx context.Context, fn func(context.Context, *txn) error) error {
	sess, err := concurrency.NewSession(a.cli, concurrency.WithTTL(10))
	if err != nil {
		return err
	}
	defer sess.Close()
	mu := concurrency.NewMutex(sess, a.root+"/lock")
	if err := mu.Lock(ctx); err != nil {
		return err
	}
	defer mu.Unlock(context.WithoutCancel(ctx))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-sess.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	return fn(ctx, &txn{cli: a.cli, mu: mu})
}

func (a *Allocator) Allocate(ctx context.Context, node string, free func(used []string) (string, bool)) (block string, err error) {
	err = a.locked(ctx, func(ctx context.Context, t *txn) error {
		resp, err := a.cli.Get(ctx, a.root+"/blocks/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
		if err != nil {
			return err
		}
		used := make([]string, 0, len(resp.Kvs))
		for _, kv := range resp.Kvs {
			used = append(used, string(kv.Key))
		}
		b, ok := free(used)
		if !ok {
			return errors.New("no free block")
		}
		block = b
		return t.commit(ctx,
			clientv3.OpPut(a.root+"/blocks/"+b, node),
			clientv3.OpPut(a.root+"/nodes/"+node+"/"+b, ""))
	})
	return block, err
}
