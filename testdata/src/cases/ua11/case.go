// Package ua11 announces which instance of a service is the primary.
package ua11

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/hashicorp/consul/api"
)

type Announcer struct {
	kv   *api.KV
	key  string
	self string
}

func NewAnnouncer(c *api.Client, service string) (*Announcer, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &Announcer{kv: c.KV(), key: "service/" + service + "/leader", self: host}, nil
}

// Announce creates the key if nobody is announced.
func (a *Announcer) Announce(ctx context.Context) (bool, error) {
	ok, _, err := a.kv.CAS(&api.KVPair{Key: a.key, Value: []byte(a.self), ModifyIndex: 0}, (&api.WriteOptions{}).WithContext(ctx))
	return ok, err
}

// Withdraw removes the announcement, if it is still this instance's.
func (a *Announcer) Withdraw(ctx context.Context) error {
	pair, _, err := a.kv.Get(a.key, (&api.QueryOptions{RequireConsistent: true}).WithContext(ctx))
	if err != nil {
		return fmt.Errorf("withdraw: %w", err)
	}
	if pair == nil {
		return nil
	}
	if string(pair.Value) != a.self {
		log.Printf("%s now belongs to %s", a.key, pair.Value)
		return nil
	}
	if _, err := a.kv.Delete(a.key, (&api.WriteOptions{}).WithContext(ctx)); err != nil { // want:C
		return fmt.Errorf("withdraw: %w", err)
	}
	return nil
}

// Stand waits until the key is ours, then until ctx ends.
func (a *Announcer) Stand(ctx context.Context) error {
	t := time.NewTicker(2 * time.Second)
	defer t.Stop()
	for {
		ok, err := a.Announce(ctx)
		if err != nil {
			log.Printf("announce: %v", err)
		}
		if ok {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	}
	<-ctx.Done()
	return a.Withdraw(context.WithoutCancel(ctx))
}
