package un10

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

var ErrLostTerm = errors.New("term is over")

// term is one won election.
type term struct {
	cli   *clientv3.Client
	guard clientv3.Cmp
	ops   []clientv3.Op
}

func newTerm(cli *clientv3.Client, e *concurrency.Election) *term {
	return &term{cli: cli, guard: clientv3.Compare(clientv3.CreateRevision(e.Key()), "=", e.Rev())}
}

func (t *term) put(key, val string) { t.ops = append(t.ops, clientv3.OpPut(key, val)) }

func (t *term) del(key string) { t.ops = append(t.ops, clientv3.OpDelete(key)) }

// commit applies what was collected, if the term still lasts.
func (t *term) commit(ctx context.Context) error {
	if len(t.ops) == 0 {
		return nil
	}
	resp, err := t.cli.Txn(ctx).If(t.guard).Then(t.ops...).Commit()
	if err != nil {
		return err
	}
	if !resp.Succeeded {
		return ErrLostTerm
	}
	t.ops = t.ops[:0]
	return nil
}
