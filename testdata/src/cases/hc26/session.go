package hc26

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/hashicorp/consul/api"
)

type Plan struct {
	Rev   int      `json:"rev"`
	Steps []string `json:"steps"`
}

type Planner struct {
	kv      *api.KV
	session string
}

// Publish acquires a guard key with the session and then puts the plan with a
// plain write to another key.
func (p *Planner) Publish(ctx context.Context, plan Plan) error {
	guard := &api.KVPair{Key: "planner/guard", Session: p.session}
	ok, _, err := p.kv.Acquire(guard, nil)
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("another planner is active")
	}
	defer p.kv.Release(guard, nil)
	raw, err := json.Marshal(plan)
	if err != nil {
		return err
	}
	_, err = p.kv.Put(&api.KVPair{Key: "planner/plan", Value: raw}, new(api.WriteOptions).WithContext(ctx)) // want:C
	return err
}
