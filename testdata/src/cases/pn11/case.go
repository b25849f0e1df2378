package pn11

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"
)

var ErrHeld = errors.New("rollout is driven by someone else")

type driver struct {
	ID    string `json:"id"`
	Host  string `json:"host"`
	Stage string `json:"stage"`
}

// Rollouts keeps one key per rollout. Every change names the revision it was
// made from.
type Rollouts struct {
	kv   jetstream.KeyValue
	host string
}

type Handle struct {
	r   *Rollouts
	key string
	me  driver
	rev uint64
}

func (r *Rollouts) Begin(ctx context.Context, name string) (*Handle, error) {
	h := &Handle{r: r, key: "rollout." + name, me: driver{ID: uuid.NewString(), Host: r.host, Stage: "canary"}}
	if _, err := r.kv.Get(ctx, h.key); err == nil {
		return nil, ErrHeld
	} else if !errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, err
	}
	b, err := json.Marshal(h.me)
	if err != nil {
		return nil, err
	}
	h.rev, err = r.kv.Create(ctx, h.key, b)
	if errors.Is(err, jetstream.ErrKeyExists) {
		return nil, ErrHeld
	}
	return h, err
}

func (h *Handle) Advance(ctx context.Context, stage string) error {
	next := h.me
	next.Stage = stage
	b, err := json.Marshal(next)
	if err != nil {
		return err
	}
	rev, err := h.r.kv.Update(ctx, h.key, b, h.rev)
	if err != nil {
		return fmt.Errorf("advance to %s: %w", stage, err)
	}
	h.me, h.rev = next, rev
	return nil
}

func (h *Handle) Finish(ctx context.Context) error {
	e, err := h.r.kv.Get(ctx, h.key)
	if err != nil {
		return err
	}
	var cur driver
	if err := json.Unmarshal(e.Value(), &cur); err != nil {
		return err
	}
	if cur.ID != h.me.ID {
		return ErrHeld
	}
	return h.r.kv.Delete(ctx, h.key, jetstream.LastRevision(e.Revision()))
}
