package hy09

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const memberPrefix = "/ingest/members/"

// Member announces itself by rewriting its entry every heartbeat interval.
type Member struct {
	ID            string    `json:"id"`
	Addr          string    `json:"addr"`
	Shards        []int     `json:"shards"`
	LastHeartbeat time.Time `json:"last_heartbeat"`
}

type Coordinator struct {
	cli     *clientv3.Client
	timeout time.Duration
}

func (c *Coordinator) members(ctx context.Context) (map[int64]Member, error) {
	resp, err := c.cli.Get(ctx, memberPrefix, clientv3.WithPrefix())
	if err != nil {
		return nil, err
	}
	out := make(map[int64]Member, len(resp.Kvs))
	for _, kv := range resp.Kvs {
		var m Member
		if err := json.Unmarshal(kv.Value, &m); err != nil {
			return nil, fmt.Errorf("member %s: %w", kv.Key, err)
		}
		out[kv.ModRevision] = m
	}
	return out, nil
}

// Orphans returns the shards of members that stopped beating and drops those
// members, so that the caller can place the shards elsewhere.
func (c *Coordinator) Orphans(ctx context.Context) ([]int, error) {
	ms, err := c.members(ctx)
	if err != nil {
		return nil, err
	}
	var shards []int
	for rev, m := range ms {
		if time.Since(m.LastHeartbeat) <= c.timeout { // want:T
			continue
		}
		key := memberPrefix + m.ID
		resp, err := c.cli.Txn(ctx).
			If(clientv3.Compare(clientv3.ModRevision(key), "=", rev)).
			Then(clientv3.OpDelete(key)).
			Commit()
		if err != nil {
			return nil, err
		}
		if resp.Succeeded {
			shards = append(shards, m.Shards...)
		}
	}
	slices.Sort(shards)
	return shards, nil
}
