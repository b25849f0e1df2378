package uw22

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

var ErrChanged = errors.New("index was rebuilt by another node")

// Objects is implemented by the cloud back ends.
type Objects interface {
	Get(ctx context.Context, name string) (data []byte, gen int64, err error)
	Put(ctx context.Context, name string, data []byte) error
	// PutIf stores only over generation gen and says whether it did.
	PutIf(ctx context.Context, name string, data []byte, gen int64) (bool, error)
}

type Index struct {
	Shards []string `json:"shards"`
	Built  int64    `json:"built"`
}

// Indexer rebuilds the search index of a cluster; one node does it at a time.
type Indexer struct {
	obj  Objects
	name string
	swap func(ctx context.Context, alias, index string) error // alias switch of the search engine
}

// Append adds a shard under the generation it was computed from.
func (x *Indexer) Append(ctx context.Context, shard string) error {
	raw, gen, err := x.obj.Get(ctx, x.name)
	if err != nil {
		return err
	}
	var ix Index
	if err := json.Unmarshal(raw, &ix); err != nil {
		return err
	}
	ix.Shards = append(ix.Shards, shard)
	if raw, err = json.Marshal(ix); err != nil {
		return err
	}
	ok, err := x.obj.PutIf(ctx, x.name, raw, gen)
	if err == nil && !ok {
		err = ErrChanged
	}
	return err
}

// Rebuild takes long, replaces the index and switches the alias to it.
func (x *Indexer) Rebuild(ctx context.Context, build func(context.Context) (Index, error)) error {
	ix, err := build(ctx)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(ix)
	if err != nil {
		return err
	}
	if err := x.obj.Put(ctx, x.name, raw); err != nil { // want:W
		return fmt.Errorf("store index: %w", err)
	}
	return x.swap(ctx, "search", fmt.Sprintf("search-%d", ix.Built)) // want:W
}
