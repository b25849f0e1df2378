package ht07

import (
	"context"
	"encoding/json"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// record is the value of the lock key.
type record struct {
	Owner   string    `json:"owner"`
	Expires time.Time `json:"expires"`
}

type Lock struct {
	cli  *clientv3.Client
	key  string
	self string
}

func (l *Lock) TryTake(ctx context.Context, ttl time.Duration) (bool, error) {
	got, err := l.cli.Get(ctx, l.key)
	if err != nil {
		return false, err
	}
	var rev int64
	if len(got.Kvs) == 1 {
		var r record
		if err := json.Unmarshal(got.Kvs[0].Value, &r); err != nil {
			return false, err
		}
		if r.Owner != l.self && time.Until(r.Expires) > 0 { // want:T
			return false, nil
		}
		rev = got.Kvs[0].ModRevision
	}
	next, err := json.Marshal(record{Owner: l.self, Expires: time.Now().Add(ttl)})
	if err != nil {
		return false, err
	}
	resp, err := l.cli.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(l.key), "=", rev)).
		Then(clientv3.OpPut(l.key, string(next))).Commit()
	if err != nil {
		return false, err
	}
	return resp.Succeeded, nil
}
