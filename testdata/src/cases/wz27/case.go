package wz27

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/consul/api"
)

const (
	prefix    = "routing/"
	ownerKey  = prefix + "owner"
	statusKey = "status/routing"
)

var ErrDeposed = errors.New("routing table has another owner")

type Route struct {
	Name    string   `json:"name"`
	Targets []string `json:"targets"`
}

// Table is written by the session that holds ownerKey.
type Table struct {
	client  *api.Client
	session string
}

// ops starts every transaction with the check that the session still holds the
// lock: the server compares it in the same step as what follows.
func (t *Table) ops(more ...*api.KVTxnOp) api.TxnOps {
	out := api.TxnOps{{KV: &api.KVTxnOp{Verb: api.KVCheckSession, Key: ownerKey, Session: t.session}}}
	for _, op := range more {
		out = append(out, &api.TxnOp{KV: op})
	}
	return out
}

func (t *Table) commit(ctx context.Context, ops api.TxnOps) error {
	ok, resp, _, err := t.client.Txn().Txn(ops, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return fmt.Errorf("routing: %w", err)
	}
	if !ok {
		for _, e := range resp.Errors {
			if e.OpIndex == 0 {
				return ErrDeposed
			}
		}
		return fmt.Errorf("routing: %d errors", len(resp.Errors))
	}
	return nil
}

func (t *Table) Replace(ctx context.Context, rs []Route) error {
	more := []*api.KVTxnOp{{Verb: api.KVDeleteTree, Key: prefix + "entries/"}}
	for _, r := range rs {
		raw, err := json.Marshal(r)
		if err != nil {
			return err
		}
		more = append(more, &api.KVTxnOp{Verb: api.KVSet, Key: prefix + "entries/" + r.Name, Value: raw})
	}
	return t.commit(ctx, t.ops(more...))
}

// Default goes through the index that was read with the old value.
func (t *Table) Default(ctx context.Context, change func(*Route)) error {
	kv := t.client.KV()
	pair, _, err := kv.Get(prefix+"default", (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return err
	}
	if pair == nil {
		pair = &api.KVPair{Key: prefix + "default", Value: []byte("{}")}
	}
	var r Route
	if err := json.Unmarshal(pair.Value, &r); err != nil {
		return err
	}
	change(&r)
	if pair.Value, err = json.Marshal(r); err != nil {
		return err
	}
	ok, _, err := kv.CAS(pair, (&api.WriteOptions{}).WithContext(ctx))
	if err != nil {
		return err
	}
	if !ok {
		return ErrDeposed
	}
	return nil
}

// Report writes a key that is not part of the table.
func (t *Table) Report(ctx context.Context, node string) error {
	_, err := t.client.KV().Put(&api.KVPair{Key: statusKey, Value: []byte(node)}, (&api.WriteOptions{}).WithContext(ctx))
	return err
}
