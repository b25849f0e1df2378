package wz29

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const maxOps = 128

var ErrNotLeader = errors.New("planner lost its key")

type Node struct {
	Name   string   `json:"name"`
	Shards []uint32 `json:"shards"`
}

// Planner writes the topology; leaderKey was created at revision rev when it won.
type Planner struct {
	kv        clientv3.KV
	root      string
	leaderKey string
	rev       int64
}

func (p *Planner) nodeKey(name string) string { return path.Join(p.root, "nodes", name) }

func (p *Planner) encode(ns []Node) ([]clientv3.Op, error) {
	ops := make([]clientv3.Op, 0, len(ns))
	for _, n := range ns {
		raw, err := json.Marshal(n)
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", n.Name, err)
		}
		ops = append(ops, clientv3.OpPut(p.nodeKey(n.Name), string(raw)))
	}
	return ops, nil
}

// Update changes some nodes as long as the leader key is the one we created.
func (p *Planner) Update(ctx context.Context, ns ...Node) error {
	ops, err := p.encode(ns)
	if err != nil {
		return err
	}
	resp, err := p.kv.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(p.leaderKey), "=", p.rev)).
		Then(ops...).
		Commit()
	if err != nil {
		return err
	}
	if !resp.Succeeded {
		return ErrNotLeader
	}
	return nil
}

// Reload replaces everything. The transaction is there for the batching, it
// has no condition.
func (p *Planner) Reload(ctx context.Context, ns []Node) error {
	ops, err := p.encode(ns)
	if err != nil {
		return err
	}
	for len(ops) > 0 {
		n := min(maxOps, len(ops))
		if _, err := p.kv.Txn(ctx).Then(ops[:n]...).Commit(); err != nil { // want:W
			return fmt.Errorf("reload: %w", err)
		}
		ops = ops[n:]
	}
	return nil
}

// Retire drops a node, compared with the revision the caller saw.
func (p *Planner) Retire(ctx context.Context, name string, seen int64) error {
	resp, err := p.kv.Txn(ctx).
		If(
			clientv3.Compare(clientv3.CreateRevision(p.leaderKey), "=", p.rev),
			clientv3.Compare(clientv3.ModRevision(p.nodeKey(name)), "=", seen),
		).
		Then(clientv3.OpDelete(p.nodeKey(name))).
		Commit()
	if err != nil {
		return err
	}
	if !resp.Succeeded {
		return ErrNotLeader
	}
	return nil
}
