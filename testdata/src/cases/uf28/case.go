package uf28

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

type route struct {
	ID       string   `json:"id"`
	Upstream []string `json:"upstream"`
}

// Gateway keeps its routes in etcd.
type Gateway struct {
	etcd *clientv3.Client
	base string
}

func (g *Gateway) locked(ctx context.Context, name string, fn func(context.Context) error) (err error) {
	s, err := concurrency.NewSession(g.etcd, concurrency.WithTTL(5), concurrency.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	m := concurrency.NewMutex(s, g.base+"/locks/"+name)
	if err := m.Lock(ctx); err != nil { // may:M
		return fmt.Errorf("lock %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, m.Unlock(context.WithoutCancel(ctx))) }()
	return fn(ctx)
}

func (g *Gateway) routes(ctx context.Context) ([]route, error) {
	resp, err := g.etcd.Get(ctx, g.base+"/routes/", clientv3.WithPrefix())
	if err != nil {
		return nil, err
	}
	rs := make([]route, len(resp.Kvs))
	for i, kv := range resp.Kvs {
		if err := json.Unmarshal(kv.Value, &rs[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", kv.Key, err)
		}
	}
	return rs, nil
}

// Drain removes one upstream from every route. The session may end while the
// loop runs, and the puts do not notice.
func (g *Gateway) Drain(ctx context.Context, upstream string) error {
	return g.locked(ctx, "routes", func(ctx context.Context) error { // may:C|W
		rs, err := g.routes(ctx)
		if err != nil {
			return err
		}
		sort.Slice(rs, func(i, j int) bool { return rs[i].ID < rs[j].ID })
		for _, r := range rs {
			keep := r.Upstream[:0]
			for _, u := range r.Upstream {
				if u != upstream {
					keep = append(keep, u)
				}
			}
			r.Upstream = keep
			raw, err := json.Marshal(r)
			if err != nil {
				return err
			}
			if _, err := g.etcd.Put(ctx, g.base+"/routes/"+r.ID, string(raw)); err != nil { // want:W|C
				return err
			}
		}
		return nil
	})
}
