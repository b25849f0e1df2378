// Package kb07 leases service names to units of a deployment tool, in etcd.
package kb07

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// TimeSource is replaced in tests.
type TimeSource interface {
	Now() time.Time
}

type system struct{}

func (system) Now() time.Time { return time.Now() }

// claim is what is stored under the name.
type claim struct {
	Unit    string    `json:"unit"`
	Expires time.Time `json:"expires"`
}

var ErrClaimed = errors.New("name is claimed by another unit")

type Names struct {
	cli   *clientv3.Client
	clock TimeSource
	unit  string
}

func NewNames(cli *clientv3.Client, unit string) *Names {
	return &Names{cli: cli, clock: system{}, unit: unit}
}

func (n *Names) load(ctx context.Context, key string) (*claim, int64, error) {
	resp, err := n.cli.Get(ctx, key)
	if err != nil {
		return nil, 0, err
	}
	if len(resp.Kvs) == 0 {
		return nil, 0, nil
	}
	var c claim
	if err := json.Unmarshal(resp.Kvs[0].Value, &c); err != nil {
		return nil, 0, err
	}
	return &c, resp.Kvs[0].ModRevision, nil
}

// Claim takes the name for d, or prolongs the claim of this unit.
func (n *Names) Claim(ctx context.Context, name string, d time.Duration) error {
	key := "/claims/" + name
	cur, rev, err := n.load(ctx, key)
	if err != nil {
		return err
	}
	now := n.clock.Now()
	if cur != nil && cur.Unit != n.unit && now.Before(cur.Expires) { // want:T
		return ErrClaimed
	}
	raw, err := json.Marshal(claim{Unit: n.unit, Expires: now.Add(d)})
	if err != nil {
		return err
	}
	resp, err := n.cli.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(key), "=", rev)).
		Then(clientv3.OpPut(key, string(raw))).
		Commit()
	if err != nil {
		return err
	}
	if !resp.Succeeded {
		return ErrClaimed
	}
	return nil
}
