package ue22

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// record is the value under an ownership key. Keys are not attached to an etcd
// lease, so that a restart of etcd does not drop them; the deadline is inside.
type record struct {
	Node       string `json:"node"`
	DeadlineMs int64  `json:"deadline_ms"`
}

var ErrOwned = errors.New("region is owned by another node")

type Regions struct {
	kv   clientv3.KV
	node string
	ttl  time.Duration
}

func (r *Regions) key(region uint64) string { return fmt.Sprintf("/regions/%d/owner", region) }

// Own takes the region over when it is free or its owner's deadline passed.
func (r *Regions) Own(ctx context.Context, region uint64) error {
	key := r.key(region)
	resp, err := r.kv.Get(ctx, key)
	if err != nil {
		return err
	}
	nowMs := time.Now().UnixMilli()
	var rev int64
	if len(resp.Kvs) == 1 {
		var cur record
		if err := json.Unmarshal(resp.Kvs[0].Value, &cur); err != nil {
			return fmt.Errorf("decode %s: %w", key, err)
		}
		if cur.Node != r.node && nowMs < cur.DeadlineMs { // want:T
			return ErrOwned
		}
		rev = resp.Kvs[0].ModRevision
	}
	val, err := json.Marshal(record{Node: r.node, DeadlineMs: nowMs + r.ttl.Milliseconds()}) // may:T
	if err != nil {
		return err
	}
	tx, err := r.kv.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(key), "=", rev)).
		Then(clientv3.OpPut(key, string(val))).
		Commit()
	if err != nil {
		return err
	}
	if !tx.Succeeded {
		return ErrOwned
	}
	return nil
}
