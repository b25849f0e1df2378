package uw20

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/consul/api"
)

var ErrConflict = errors.New("route table changed")

type Route struct {
	Host    string `json:"host"`
	Backend string `json:"backend"`
}

// Table is maintained by one gateway controller at a time.
type Table struct {
	c    *api.Client
	root string
}

func (t *Table) ops(rs []Route) (api.TxnOps, error) {
	var ops api.TxnOps
	for _, r := range rs {
		raw, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		ops = append(ops, &api.TxnOp{KV: &api.KVTxnOp{Verb: api.KVSet, Key: t.root + r.Host, Value: raw}})
	}
	return ops, nil
}

// Publish writes a set of routes in one transaction that compares nothing.
func (t *Table) Publish(rs []Route) error {
	ops, err := t.ops(rs)
	if err != nil {
		return err
	}
	ok, resp, _, err := t.c.Txn().Txn(ops, nil) // want:W
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("publish: %v", resp.Errors)
	}
	return nil
}

// Retire clears a subtree.
func (t *Table) Retire(domain string) error {
	_, err := t.c.KV().DeleteTree(t.root+domain+"/", nil) // want:W
	return err
}

// Default replaces the fallback route that was read before.
func (t *Table) Default(change func([]byte) []byte) error {
	p, _, err := t.c.KV().Get(t.root+"_default", nil)
	if err != nil {
		return err
	}
	if p == nil {
		p = &api.KVPair{Key: t.root + "_default"}
	}
	p.Value = change(p.Value)
	ok, _, err := t.c.KV().CAS(p, nil)
	if err == nil && !ok {
		err = ErrConflict
	}
	return err
}
