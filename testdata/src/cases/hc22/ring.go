package hc22

import (
	"context"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// Ring updates its members list under a sync.Locker that is backed by etcd.
type Ring struct {
	cli *clientv3.Client
	mu  sync.Locker
}

func NewRing(cli *clientv3.Client, s *concurrency.Session) *Ring {
	return &Ring{cli: cli, mu: concurrency.NewLocker(s, "/ring/lock")}
}

func (r *Ring) Join(ctx context.Context, member, addr string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	cur, err := r.cli.Get(ctx, "/ring/members")
	if err != nil {
		return err
	}
	var list string
	if len(cur.Kvs) > 0 {
		list = string(cur.Kvs[0].Value) + ","
	}
	_, err = r.cli.Put(ctx, "/ring/members", list+member+"="+addr) // want:C
	return err
}
