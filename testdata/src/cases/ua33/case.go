// Package ua33 elects the instance that polls a legacy API; the entry lives in
// a JetStream bucket.
package ua33

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

type entry struct {
	Instance string    `json:"instance"`
	Deadline time.Time `json:"deadline"`
}

type Candidate struct {
	kv       jetstream.KeyValue
	key      string
	instance string
	term     time.Duration
}

func (c *Candidate) encode() ([]byte, error) {
	return json.Marshal(entry{Instance: c.instance, Deadline: time.Now().Add(c.term)})
}

// Stand tries to become, or to remain, the elected instance.
func (c *Candidate) Stand(ctx context.Context) (bool, error) {
	raw, err := c.encode()
	if err != nil {
		return false, err
	}
	cur, err := c.kv.Get(ctx, c.key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		_, err = c.kv.Create(ctx, c.key, raw)
		if errors.Is(err, jetstream.ErrKeyExists) {
			return false, nil
		}
		return err == nil, err
	}
	if err != nil {
		return false, fmt.Errorf("stand: %w", err)
	}
	var e entry
	if err := json.Unmarshal(cur.Value(), &e); err != nil {
		return false, fmt.Errorf("stand: %w", err)
	}
	if e.Instance != c.instance && time.Until(e.Deadline) > 0 { // want:T
		return false, nil
	}
	_, err = c.kv.Update(ctx, c.key, raw, cur.Revision())
	var api *jetstream.APIError
	if errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return false, nil
	}
	return err == nil, err
}
