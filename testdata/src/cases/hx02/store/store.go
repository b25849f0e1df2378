// Package store keeps the schedule in etcd.
package store

import (
	"context"
	"encoding/json"

	clientv3 "go.etcd.io/etcd/client/v3"
)

type Entry struct {
	Name string `json:"name"`
	Node string `json:"node"`
	Next int64  `json:"next"`
}

type Schedule struct {
	kv     clientv3.KV
	prefix string
}

func New(kv clientv3.KV, prefix string) *Schedule { return &Schedule{kv: kv, prefix: prefix} }

func (s *Schedule) Put(ctx context.Context, e Entry) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = s.kv.Put(ctx, s.prefix+e.Name, string(b)) // may:C|W
	return err
}

func (s *Schedule) Remove(ctx context.Context, name string) error {
	_, err := s.kv.Delete(ctx, s.prefix+name) // may:C|W
	return err
}

func (s *Schedule) All(ctx context.Context) ([]Entry, error) {
	resp, err := s.kv.Get(ctx, s.prefix, clientv3.WithPrefix())
	if err != nil {
		return nil, err
	}
	out := make([]Entry, 0, len(resp.Kvs))
	for _, kv := range resp.Kvs {
		var e Entry
		if err := json.Unmarshal(kv.Value, &e); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}
