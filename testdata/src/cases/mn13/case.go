package mn13

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/consul/api"
)

var ErrRetry = errors.New("allocation changed, try again")

type allocation struct {
	Next   int            `json:"next"`
	Shards map[int]string `json:"shards"`
}

// Allocator gives out shard numbers; nothing is written without the index of
// the value that the new one was made from.
type Allocator struct {
	kv  *api.KV
	key string
}

func (a *Allocator) update(change func(*allocation) error) error {
	pair, _, err := a.kv.Get(a.key, &api.QueryOptions{RequireConsistent: true})
	if err != nil {
		return fmt.Errorf("get %s: %w", a.key, err)
	}
	v := allocation{Shards: map[int]string{}}
	var index uint64
	if pair != nil {
		index = pair.ModifyIndex
		if err := json.Unmarshal(pair.Value, &v); err != nil {
			return fmt.Errorf("decode %s: %w", a.key, err)
		}
	}
	if err := change(&v); err != nil {
		return err
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	ok, _, err := a.kv.CAS(&api.KVPair{Key: a.key, Value: raw, ModifyIndex: index}, nil)
	if err != nil {
		return fmt.Errorf("store %s: %w", a.key, err)
	}
	if !ok {
		return ErrRetry
	}
	return nil
}

func (a *Allocator) Add(node string) (shard int, err error) {
	err = a.update(func(v *allocation) error {
		shard = v.Next
		v.Shards[shard] = node
		v.Next++
		return nil
	})
	return shard, err
}

func (a *Allocator) Remove(shard int, node string) error {
	return a.update(func(v *allocation) error {
		if v.Shards[shard] != node {
			return fmt.Errorf("shard %d is not on %s", shard, node)
		}
		delete(v.Shards, shard)
		return nil
	})
}
