package uf26

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/consul/api"
)

var ErrLeadershipLost = errors.New("leadership lost")

// Autoscaler keeps its decisions in consul; one agent of several is active.
type Autoscaler struct {
	client *api.Client
	root   string
	lost   <-chan struct{}
}

type decision struct {
	Group string    `json:"group"`
	Count int       `json:"count"`
	At    time.Time `json:"at"`
}

func (a *Autoscaler) lead(stop <-chan struct{}) (*api.Lock, error) {
	l, err := a.client.LockOpts(&api.LockOptions{
		Key:          a.root + "/leader",
		SessionTTL:   "15s",
		LockWaitTime: 5 * time.Second,
	})
	if err != nil {
		return nil, err
	}
	if a.lost, err = l.Lock(stop); err != nil {
		return nil, err
	}
	if a.lost == nil {
		return nil, errors.New("aborted")
	}
	return l, nil
}

func (a *Autoscaler) Run(ctx context.Context, in <-chan decision) (err error) {
	l, err := a.lead(ctx.Done())
	if err != nil {
		return fmt.Errorf("lead: %w", err)
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-a.lost:
			return ErrLeadershipLost
		case d := <-in:
			if err := a.record(ctx, d); err != nil { // may:C|W
				return err
			}
		}
	}
}

func (a *Autoscaler) record(ctx context.Context, d decision) error {
	raw, err := json.Marshal(d)
	if err != nil {
		return err
	}
	kv := a.client.KV()
	opts := new(api.WriteOptions).WithContext(ctx)
	if d.Count == 0 {
		_, err = kv.Delete(a.root+"/groups/"+d.Group, opts) // may:C|W
		return err
	}
	pair := &api.KVPair{Key: a.root + "/groups/" + d.Group, Value: raw}
	if _, err := kv.Put(pair, opts); err != nil { // want:W|C
		return fmt.Errorf("record %s: %w", d.Group, err)
	}
	return nil
}
