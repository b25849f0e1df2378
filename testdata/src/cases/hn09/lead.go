package hn09

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

var errNotLeader = errors.New("lost the election before the write")

type Config struct {
	cli  *clientv3.Client
	node string
}

func (c *Config) Lead(ctx context.Context, updates <-chan [2]string) error {
	s, err := concurrency.NewSession(c.cli, concurrency.WithTTL(15))
	if err != nil {
		return err
	}
	defer s.Close()
	el := concurrency.NewElection(s, "/config/leader/")
	if err := el.Campaign(ctx, c.node); err != nil {
		return err
	}
	for u := range updates {
		if err := c.put(ctx, el, u[0], u[1]); err != nil {
			return err
		}
	}
	return el.Resign(ctx)
}

// put compares the election key in the same transaction.
func (c *Config) put(ctx context.Context, el *concurrency.Election, k, v string) error {
	mine := clientv3.Compare(clientv3.CreateRevision(el.Key()), "=", el.Rev())
	resp, err := c.cli.Txn(ctx).If(mine).Then(clientv3.OpPut("/config/data/"+k, v)).Commit()
	if err != nil {
		return err
	}
	if !resp.Succeeded {
		return errNotLeader
	}
	return nil
}
