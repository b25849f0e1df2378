package xn16

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/consul/api"
)

var ErrConflict = errors.New("upstream changed since it was read")

type Entry struct {
	Key   string
	Value []byte
	Index uint64 // of the read the value was computed from; 0: must not exist
}

type Upstreams struct{ c *api.Client }

func (u *Upstreams) Load(ctx context.Context, key string) (Entry, error) {
	p, _, err := u.c.KV().Get(key, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return Entry{}, err
	}
	if p == nil {
		return Entry{Key: key}, nil
	}
	return Entry{Key: key, Value: p.Value, Index: p.ModifyIndex}, nil
}

func (u *Upstreams) Store(ctx context.Context, e Entry) error {
	ok, _, err := u.c.KV().CAS(&api.KVPair{Key: e.Key, Value: e.Value, ModifyIndex: e.Index}, (&api.WriteOptions{}).WithContext(ctx))
	return done(ok, err)
}

func (u *Upstreams) Remove(ctx context.Context, e Entry) error {
	ok, _, err := u.c.KV().DeleteCAS(&api.KVPair{Key: e.Key, ModifyIndex: e.Index}, (&api.WriteOptions{}).WithContext(ctx))
	return done(ok, err)
}

// StoreAll applies all entries or none; each is compared with its own index.
func (u *Upstreams) StoreAll(ctx context.Context, es []Entry) error {
	var ops api.TxnOps
	for _, e := range es {
		ops = append(ops, &api.TxnOp{KV: &api.KVTxnOp{Verb: api.KVCAS, Key: e.Key, Value: e.Value, Index: e.Index}})
	}
	ok, resp, _, err := u.c.Txn().Txn(ops, (&api.QueryOptions{}).WithContext(ctx))
	if err == nil && !ok {
		return fmt.Errorf("%w: %v", ErrConflict, resp.Errors)
	}
	return err
}

// Rename writes two keys while the old one is what was read.
func (u *Upstreams) Rename(ctx context.Context, e Entry, to string) error {
	ok, _, _, err := u.c.Txn().Txn(api.TxnOps{
		{KV: &api.KVTxnOp{Verb: api.KVCheckIndex, Key: e.Key, Index: e.Index}},
		{KV: &api.KVTxnOp{Verb: api.KVSet, Key: to, Value: e.Value}},
		{KV: &api.KVTxnOp{Verb: api.KVDelete, Key: e.Key}},
	}, (&api.QueryOptions{}).WithContext(ctx))
	return done(ok, err)
}

func done(ok bool, err error) error {
	if err == nil && !ok {
		return ErrConflict
	}
	return err
}
