// Package un11 keeps a sharding document in Consul; the node with the lock
// edits it, by compare and set.
package un11

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/consul/api"
)

var errConflict = errors.New("document changed meanwhile")

type doc struct {
	Shards map[string]string `json:"shards"`
}

type Sharder struct {
	c    *api.Client
	path string
}

// edit stores the document that fn makes out of the one that was read.
func (s *Sharder) edit(ctx context.Context, fn func(*doc) bool) error {
	p, _, err := s.c.KV().Get(s.path, (&api.QueryOptions{RequireConsistent: true}).WithContext(ctx))
	if err != nil {
		return err
	}
	d := doc{Shards: map[string]string{}}
	var index uint64
	if p != nil {
		index = p.ModifyIndex
		if err := json.Unmarshal(p.Value, &d); err != nil {
			return fmt.Errorf("%s: %w", s.path, err)
		}
	}
	if !fn(&d) {
		return nil
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return err
	}
	ok, _, err := s.c.KV().CAS(&api.KVPair{Key: s.path, Value: raw, ModifyIndex: index}, (&api.WriteOptions{}).WithContext(ctx))
	if err != nil {
		return err
	}
	if !ok {
		return errConflict
	}
	return nil
}

// Serve moves shards away from dead nodes while this node has the lock.
func (s *Sharder) Serve(ctx context.Context, dead func() map[string]bool, spare func() string) error {
	l, err := s.c.LockKey(s.path + "/.lock")
	if err != nil {
		return err
	}
	lost, err := l.Lock(ctx.Done())
	if err != nil || lost == nil {
		return err
	}
	defer func() { _ = l.Unlock() }()
	t := time.NewTicker(5 * time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-lost:
			return nil
		case <-t.C:
		}
		err := s.edit(ctx, func(d *doc) (changed bool) {
			gone := dead()
			for sh, n := range d.Shards {
				if gone[n] {
					d.Shards[sh] = spare()
					changed = true
				}
			}
			return changed
		})
		if err != nil && !errors.Is(err, errConflict) {
			return err
		}
	}
}
