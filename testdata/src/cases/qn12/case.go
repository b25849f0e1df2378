package qn12

import (
	"errors"
	"fmt"

	"github.com/hashicorp/consul/api"
)

var ErrLockLost = errors.New("session no longer holds the lock")

// Config publishes feature flags under a session lock.
type Config struct {
	client  *api.Client
	root    string
	session string
}

func (c *Config) held() *api.TxnOp {
	return &api.TxnOp{KV: &api.KVTxnOp{Verb: api.KVCheckSession, Key: c.root + "/.lock", Session: c.session}}
}

// Publish applies all flags, or none if the lock went to another session.
func (c *Config) Publish(flags map[string]string) error {
	ops := api.TxnOps{c.held()}
	for k, v := range flags {
		ops = append(ops, &api.TxnOp{KV: &api.KVTxnOp{Verb: api.KVSet, Key: c.root + "/flags/" + k, Value: []byte(v)}})
	}
	ok, resp, _, err := c.client.Txn().Txn(ops, nil)
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	if !ok {
		return conflict(resp)
	}
	return nil
}

// Toggle changes one flag that was read at index.
func (c *Config) Toggle(name, value string, index uint64) error {
	done, _, err := c.client.KV().CAS(&api.KVPair{
		Key: c.root + "/flags/" + name, Value: []byte(value), ModifyIndex: index,
	}, nil)
	if err != nil {
		return err
	}
	if !done {
		return fmt.Errorf("flag %s was changed", name)
	}
	return nil
}

func conflict(resp *api.TxnResponse) error {
	for _, e := range resp.Errors {
		if e.OpIndex == 0 {
			return ErrLockLost
		}
	}
	return fmt.Errorf("transaction was rejected: %v", resp.Errors)
}
