package pn01

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

var ErrNotLeader = errors.New("not the leader of the cell")

// Planner writes assignments only in transactions that compare the create
// revision of its own election key.
type Planner struct {
	cli  *clientv3.Client
	sess *concurrency.Session
	el   *concurrency.Election
	cell string
}

func NewPlanner(cli *clientv3.Client, cell string) (*Planner, error) {
	sess, err := concurrency.NewSession(cli, concurrency.WithTTL(15))
	if err != nil {
		return nil, err
	}
	return &Planner{cli: cli, sess: sess, el: concurrency.NewElection(sess, "/cells/"+cell+"/planner"), cell: cell}, nil
}

func (p *Planner) guarded(ctx context.Context, ops ...clientv3.Op) error {
	resp, err := p.cli.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(p.el.Key()), "=", p.el.Rev())).
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

// Plan assigns every task to the least loaded node.
func (p *Planner) Plan(ctx context.Context, node string, tasks []string, nodes []string) error {
	if len(nodes) == 0 {
		return errors.New("no nodes")
	}
	if err := p.el.Campaign(ctx, node); err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	select {
	case <-p.sess.Done():
		return ErrNotLeader
	default:
	}
	for i, t := range tasks {
		key := fmt.Sprintf("/cells/%s/tasks/%s", p.cell, t)
		if err := p.guarded(ctx, clientv3.OpPut(key, nodes[i%len(nodes)])); err != nil {
			return fmt.Errorf("assign %s: %w", t, err)
		}
	}
	return p.el.Resign(ctx)
}
