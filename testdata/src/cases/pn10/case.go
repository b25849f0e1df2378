package pn10

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/consul/api"
)

var (
	ErrDeposed = errors.New("session does not hold the leader key")
	ErrChanged = errors.New("route table changed meanwhile")
)

// Routes lets the leader rewrite the route table; the session that holds the
// leader key is checked by Consul in the same transaction.
type Routes struct {
	cl      *api.Client
	leader  string
	session string
}

type table struct {
	Routes map[string]string `json:"routes"`
}

func (r *Routes) load(ctx context.Context) (table, uint64, error) {
	t := table{Routes: map[string]string{}}
	p, _, err := r.cl.KV().Get("routes", (&api.QueryOptions{RequireConsistent: true}).WithContext(ctx))
	if err != nil || p == nil {
		return t, 0, err
	}
	return t, p.ModifyIndex, json.Unmarshal(p.Value, &t)
}

// Set adds one route.
func (r *Routes) Set(ctx context.Context, host, target string) error {
	cur, _, err := r.cl.KV().Get(r.leader, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return err
	}
	if cur == nil || cur.Session != r.session {
		return ErrDeposed
	}
	t, idx, err := r.load(ctx)
	if err != nil {
		return fmt.Errorf("load routes: %w", err)
	}
	t.Routes[host] = target
	raw, err := json.Marshal(t)
	if err != nil {
		return err
	}
	ok, resp, _, err := r.cl.Txn().Txn(api.TxnOps{
		{KV: &api.KVTxnOp{Verb: api.KVCheckSession, Key: r.leader, Session: r.session}},
		{KV: &api.KVTxnOp{Verb: api.KVCAS, Key: "routes", Value: raw, Index: idx}},
	}, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return err
	}
	if !ok {
		for _, e := range resp.Errors {
			if e.OpIndex == 0 {
				return ErrDeposed
			}
		}
		return ErrChanged
	}
	return nil
}

// Resign releases the key, which Consul refuses for any other session.
func (r *Routes) Resign() error {
	ok, _, err := r.cl.KV().Release(&api.KVPair{Key: r.leader, Session: r.session}, nil)
	if err != nil {
		return err
	}
	if !ok {
		return ErrDeposed
	}
	return nil
}
