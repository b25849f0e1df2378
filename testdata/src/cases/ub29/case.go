package ub29

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/consul/api"

	"example.com/corpus/cases/ub29/lease"
)

// Snapshotter takes the nightly backup on one agent of the fleet.
type Snapshotter struct {
	kv  *api.KV
	me  string
	key string
}

func New(c *api.Client, cluster string) *Snapshotter {
	return &Snapshotter{kv: c.KV(), me: uuid.NewString(), key: "backup/" + cluster + "/lease"}
}

var ErrNotUs = errors.New("backup is made by another agent")

// Claim returns the index under which the record was stored by us.
func (s *Snapshotter) Claim(d time.Duration) error {
	pair, _, err := s.kv.Get(s.key, nil)
	if err != nil {
		return fmt.Errorf("read lease: %w", err)
	}
	next := &api.KVPair{Key: s.key}
	if pair != nil {
		l, err := lease.Decode(pair.Value)
		if err != nil {
			return err
		}
		if l.Owner != s.me && !l.Expired() { // may:T
			return ErrNotUs
		}
		next.ModifyIndex = pair.ModifyIndex
	}
	next.Value = lease.Lease{Owner: s.me, Expires: time.Now().Add(d)}.Encode() // may:T
	ok, _, err := s.kv.CAS(next, nil)
	if err != nil {
		return err
	}
	if !ok {
		return ErrNotUs
	}
	return nil
}
