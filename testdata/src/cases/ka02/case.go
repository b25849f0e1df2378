// Package ka02 rolls feature flags out; the replica with the Consul lock writes.
package ka02

import (
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/hashicorp/consul/api"
)

type Rollout struct {
	Flag    string `json:"flag"`
	Percent int    `json:"percent"`
}

type Agent struct {
	client *api.Client
	plan   func() ([]Rollout, error)
	every  time.Duration
}

// Run blocks until stop is closed.
func (a *Agent) Run(stop <-chan struct{}) error { // may:M
	lock, err := a.client.LockOpts(&api.LockOptions{
		Key:         "service/rollout/leader",
		SessionName: "rollout-agent",
		SessionTTL:  "15s",
	})
	if err != nil {
		return err
	}
	lost, err := lock.Lock(stop)
	if err != nil {
		return err
	}
	if lost == nil {
		return nil // stopped while waiting
	}
	defer lock.Unlock() // may:S

	t := time.NewTicker(a.every)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return nil
		case <-lost:
			return fmt.Errorf("rollout leadership lost")
		case <-t.C:
			if err := a.step(); err != nil { // may:C
				log.Printf("rollout: %v", err)
			}
		}
	}
}

func (a *Agent) step() error {
	next, err := a.plan()
	if err != nil {
		return err
	}
	kv := a.client.KV()
	for _, r := range next {
		raw, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if _, err := kv.Put(&api.KVPair{Key: "flags/" + r.Flag, Value: raw}, nil); err != nil { // want:C|W
			return err
		}
	}
	return nil
}
