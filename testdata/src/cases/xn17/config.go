package xn17

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

var ErrConflict = errors.New("configuration was changed")

// Config is edited by whoever holds the mutex; the store checks it again.
type Config struct {
	cli  *clientv3.Client
	root string
}

type Editor struct {
	c  *Config
	mu *concurrency.Mutex
}

// write runs ops under the editor's lock and further conditions.
func (e *Editor) write(ctx context.Context, ops []clientv3.Op, cmps ...clientv3.Cmp) error {
	conds := append([]clientv3.Cmp{e.mu.IsOwner()}, cmps...)
	resp, err := e.c.cli.Txn(ctx).If(conds...).Then(ops...).Commit()
	if err != nil {
		return err
	}
	if !resp.Succeeded {
		return ErrConflict
	}
	return nil
}

func (e *Editor) Set(ctx context.Context, name, value string) error {
	return e.write(ctx, []clientv3.Op{clientv3.OpPut(e.c.root+name, value)})
}

func (e *Editor) Rename(ctx context.Context, from, to string) error {
	resp, err := e.c.cli.Get(ctx, e.c.root+from)
	if err != nil {
		return err
	}
	if len(resp.Kvs) == 0 {
		return fmt.Errorf("no entry %q", from)
	}
	kv := resp.Kvs[0]
	return e.write(ctx,
		[]clientv3.Op{clientv3.OpPut(e.c.root+to, string(kv.Value)), clientv3.OpDelete(e.c.root + from)},
		clientv3.Compare(clientv3.ModRevision(string(kv.Key)), "=", kv.ModRevision))
}

// Bump needs no lock: it stores over the revision it has read.
func (c *Config) Bump(ctx context.Context, name string, next func(string) string) error {
	key := c.root + name
	resp, err := c.cli.Get(ctx, key)
	if err != nil {
		return err
	}
	var cur string
	var rev int64
	if len(resp.Kvs) > 0 {
		cur, rev = string(resp.Kvs[0].Value), resp.Kvs[0].ModRevision
	}
	txn, err := c.cli.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(key), "=", rev)).
		Then(clientv3.OpPut(key, next(cur))).
		Commit()
	if err == nil && !txn.Succeeded {
		err = ErrConflict
	}
	return err
}
