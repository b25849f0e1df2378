package wn12

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/consul/api"
)

var ErrNotPrimary = errors.New("not primary")

// Primary takes a key with its session and writes cluster settings only in
// transactions that check the session on that key.
type Primary struct {
	c       *api.Client
	key     string
	session string
}

func (p *Primary) Promote(ctx context.Context, addr string) error {
	ok, _, err := p.c.KV().Acquire(&api.KVPair{Key: p.key, Value: []byte(addr), Session: p.session},
		(&api.WriteOptions{}).WithContext(ctx))
	if err != nil {
		return err
	}
	if !ok {
		return ErrNotPrimary
	}
	return p.Set(ctx, map[string][]byte{"cluster/primary": []byte(addr)})
}

func (p *Primary) guard() *api.TxnOp {
	return &api.TxnOp{KV: &api.KVTxnOp{Verb: api.KVCheckSession, Key: p.key, Session: p.session}}
}

func (p *Primary) Set(ctx context.Context, vals map[string][]byte) error {
	ops := api.TxnOps{p.guard()}
	for k, v := range vals {
		ops = append(ops, &api.TxnOp{KV: &api.KVTxnOp{Verb: api.KVSet, Key: k, Value: v}})
	}
	ok, resp, _, err := p.c.Txn().Txn(ops, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return err
	}
	if !ok {
		for _, e := range resp.Errors {
			if e.OpIndex == 0 {
				return ErrNotPrimary
			}
		}
		return fmt.Errorf("transaction refused: %d errors", len(resp.Errors))
	}
	return nil
}

func (p *Primary) Demote() error {
	_, _, err := p.c.KV().Release(&api.KVPair{Key: p.key, Session: p.session}, nil)
	return err
}
