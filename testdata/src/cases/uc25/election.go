package uc25

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

type Clock interface{ Now() time.Time }

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

// leaderDoc is the value of the leader key in the bucket.
type leaderDoc struct {
	ID      string `json:"id"`
	Term    uint64 `json:"term"`
	Expires int64  `json:"expires"` // unix seconds
}

type Election struct {
	kv    jetstream.KeyValue
	id    string
	ttl   time.Duration
	clock Clock
}

func NewElection(kv jetstream.KeyValue, id string) *Election {
	return &Election{kv: kv, id: id, ttl: 20 * time.Second, clock: realClock{}}
}

// Try becomes or stays leader. The write is conditional on the revision that
// was read, but whether the old leader is gone is judged by this host's clock.
func (e *Election) Try(ctx context.Context) (bool, error) {
	now := e.clock.Now()
	next := leaderDoc{ID: e.id, Term: 1, Expires: now.Add(e.ttl).Unix()} // may:T
	ent, err := e.kv.Get(ctx, "leader")
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		b, err := json.Marshal(next)
		if err != nil {
			return false, err
		}
		_, err = e.kv.Create(ctx, "leader", b)
		if errors.Is(err, jetstream.ErrKeyExists) {
			return false, nil
		}
		return err == nil, err
	}
	if err != nil {
		return false, err
	}
	var cur leaderDoc
	if err := json.Unmarshal(ent.Value(), &cur); err != nil {
		return false, err
	}
	if cur.ID != e.id && cur.Expires > now.Unix() { // want:T
		return false, nil
	}
	next.Term = cur.Term + 1
	b, err := json.Marshal(next)
	if err != nil {
		return false, err
	}
	if _, err := e.kv.Update(ctx, "leader", b, ent.Revision()); err != nil {
		return false, err
	}
	return true, nil
}
