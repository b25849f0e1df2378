// Package kc05 keeps the inventory of a fleet in Consul; updates are CAS.
package kc05

import (
	"encoding/json"
	"errors"

	"github.com/hashicorp/consul/api"
)

var (
	ErrLostLock = errors.New("inventory lock lost")
	ErrStale    = errors.New("inventory changed meanwhile")
)

type Inventory struct {
	Hosts map[string]string `json:"hosts"`
}

type Store struct {
	c     *api.Client
	path  string
	lock  *api.Lock
	lost  <-chan struct{}
	index uint64
}

func (s *Store) Open(stop <-chan struct{}) error {
	l, err := s.c.LockKey(s.path + "/.lock")
	if err != nil {
		return err
	}
	lost, err := l.Lock(stop)
	if err != nil {
		return err
	}
	if lost == nil {
		return ErrLostLock
	}
	s.lock, s.lost = l, lost
	return nil
}

func (s *Store) Load() (*Inventory, error) {
	pair, _, err := s.c.KV().Get(s.path, nil)
	if err != nil {
		return nil, err
	}
	if pair == nil {
		s.index = 0
		return &Inventory{Hosts: map[string]string{}}, nil
	}
	s.index = pair.ModifyIndex
	var inv Inventory
	return &inv, json.Unmarshal(pair.Value, &inv)
}

func (s *Store) Save(inv *Inventory) error {
	select {
	case <-s.lost:
		return ErrLostLock
	default:
	}
	raw, err := json.Marshal(inv)
	if err != nil {
		return err
	}
	ok, _, err := s.c.KV().CAS(&api.KVPair{Key: s.path, Value: raw, ModifyIndex: s.index}, nil)
	if err != nil {
		return err
	}
	if !ok {
		return ErrStale
	}
	return nil
}

func (s *Store) Close() error { return s.lock.Unlock() }
