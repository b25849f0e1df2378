package vn15

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/consul/api"
)

// Catalog writes under a session lock; every transaction starts by asking the
// servers whether the lock key still belongs to the session.
type Catalog struct {
	c       *api.Client
	lockKey string
	session string
}

var ErrFenced = errors.New("session no longer holds the lock")

func Open(c *api.Client, lockKey, node string) (*Catalog, error) {
	id, _, err := c.Session().Create(&api.SessionEntry{Name: "catalog", Behavior: api.SessionBehaviorDelete}, nil)
	if err != nil {
		return nil, err
	}
	ok, _, err := c.KV().Acquire(&api.KVPair{Key: lockKey, Value: []byte(node), Session: id}, nil)
	if err != nil || !ok {
		_, derr := c.Session().Destroy(id, nil)
		return nil, errors.Join(err, derr, errors.New("lock not acquired"))
	}
	return &Catalog{c: c, lockKey: lockKey, session: id}, nil
}

func (k *Catalog) commit(ctx context.Context, ops ...*api.KVTxnOp) error {
	all := append(api.KVTxnOps{{Verb: api.KVCheckSession, Key: k.lockKey, Session: k.session}}, ops...)
	ok, resp, _, err := k.c.KV().Txn(all, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return err
	}
	if !ok {
		if len(resp.Errors) > 0 && resp.Errors[0].OpIndex == 0 {
			return ErrFenced
		}
		return fmt.Errorf("transaction refused: %v", resp.Errors)
	}
	return nil
}

func (k *Catalog) Register(ctx context.Context, name string, addrs []byte) error {
	return k.commit(ctx,
		&api.KVTxnOp{Verb: api.KVSet, Key: "catalog/" + name, Value: addrs},
		&api.KVTxnOp{Verb: api.KVDelete, Key: "catalog-gone/" + name},
	)
}

// Annotate needs no lock at all: the index says what it was computed from.
func (k *Catalog) Annotate(name string, edit func([]byte) []byte) error {
	p, _, err := k.c.KV().Get("notes/"+name, nil)
	if err != nil {
		return err
	}
	if p == nil {
		p = &api.KVPair{Key: "notes/" + name}
	}
	p.Value = edit(p.Value)
	ok, _, err := k.c.KV().CAS(p, nil)
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("note was edited meanwhile")
	}
	return nil
}

func (k *Catalog) Close() error {
	_, err := k.c.Session().Destroy(k.session, nil)
	return err
}
