// Package un10 assigns tenants to gateways; the elected node does it.
package un10

import (
	"context"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

type Assigner struct {
	cli  *clientv3.Client
	node string
}

func (a *Assigner) Run(ctx context.Context, changes <-chan struct{}) error {
	s, err := concurrency.NewSession(a.cli, concurrency.WithTTL(15), concurrency.WithContext(ctx))
	if err != nil {
		return err
	}
	defer s.Close()
	e := concurrency.NewElection(s, "/assigner/elect")
	if err := e.Campaign(ctx, a.node); err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	t := newTerm(a.cli, e)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.Done():
			return ErrLostTerm
		case <-changes:
			if err := a.round(ctx, t); err != nil {
				return err
			}
		}
	}
}

func (a *Assigner) round(ctx context.Context, t *term) error {
	gws, err := a.names(ctx, "/gateways/")
	if err != nil {
		return err
	}
	tenants, err := a.names(ctx, "/tenants/")
	if err != nil {
		return err
	}
	for i, name := range tenants {
		if len(gws) == 0 {
			t.del("/assigned/" + name)
			continue
		}
		t.put("/assigned/"+name, gws[i%len(gws)])
	}
	return t.commit(ctx)
}

func (a *Assigner) names(ctx context.Context, prefix string) ([]string, error) {
	resp, err := a.cli.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return nil, err
	}
	out := make([]string, len(resp.Kvs))
	for i, kv := range resp.Kvs {
		out[i] = strings.TrimPrefix(string(kv.Key), prefix)
	}
	return out, nil
}
