package yn01

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

var ErrConflict = errors.New("schedule changed or leadership lost")

// Scheduler moves replicas between stores; only the elected one may.
type Scheduler struct {
	cli *clientv3.Client
	el  *concurrency.Election
	id  string
}

// leading is a fast path: it saves work, the transaction below decides.
func (s *Scheduler) leading(ctx context.Context) (bool, error) {
	resp, err := s.el.Leader(ctx)
	if errors.Is(err, concurrency.ErrElectionNoLeader) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return len(resp.Kvs) == 1 && string(resp.Kvs[0].Value) == s.id, nil
}

// Place stores a placement under the election key and the revision read.
func (s *Scheduler) Place(ctx context.Context, region string, plan func(old string) (string, error)) error {
	ok, err := s.leading(ctx)
	if err != nil {
		return err
	}
	if !ok {
		return ErrConflict
	}
	key := "/placement/" + region
	cur, err := s.cli.Get(ctx, key)
	if err != nil {
		return err
	}
	var old string
	var rev int64
	if len(cur.Kvs) == 1 {
		old, rev = string(cur.Kvs[0].Value), cur.Kvs[0].ModRevision
	}
	next, err := plan(old)
	if err != nil {
		return fmt.Errorf("plan %s: %w", region, err)
	}
	resp, err := s.cli.Txn(ctx).
		If(
			clientv3.Compare(clientv3.CreateRevision(s.el.Key()), "=", s.el.Rev()),
			clientv3.Compare(clientv3.ModRevision(key), "=", rev),
		).
		Then(clientv3.OpPut(key, next)).
		Commit()
	if err != nil {
		return err
	}
	if !resp.Succeeded {
		return ErrConflict
	}
	return nil
}
