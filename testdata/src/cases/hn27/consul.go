package hn27

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/consul/api"
)

var ErrRaced = errors.New("key changed since it was read")

type Registry struct {
	kv   *api.KV
	self string
}

// Leave compares in Go, and again by index in the delete.
func (r *Registry) Leave(ctx context.Context, slot string) error {
	p, _, err := r.kv.Get("registry/owner/"+slot, new(api.QueryOptions).WithContext(ctx))
	if err != nil {
		return err
	}
	if p == nil || string(p.Value) != r.self {
		return nil
	}
	ok, _, err := r.kv.DeleteCAS(p, nil)
	if err != nil {
		return fmt.Errorf("leave %s: %w", slot, err)
	}
	if !ok {
		return ErrRaced
	}
	return nil
}

func (r *Registry) Join(slot string) (bool, error) {
	p := &api.KVPair{Key: "registry/owner/" + slot, Value: []byte(r.self), ModifyIndex: 0}
	ok, _, err := r.kv.CAS(p, nil)
	return ok, err
}
