package wz35

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

var ErrConflict = errors.New("entry was changed by another controller")

// revisions is the last revision this controller saw of every key.
type revisions map[string]uint64

// Bucket is a typed view of a key-value bucket.
type Bucket[T any] struct {
	jetstream.KeyValue
	seen revisions
}

func Open[T any](ctx context.Context, js jetstream.JetStream, name string) (*Bucket[T], error) {
	kv, err := js.KeyValue(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", name, err)
	}
	return &Bucket[T]{KeyValue: kv, seen: revisions{}}, nil
}

func (b *Bucket[T]) Load(ctx context.Context, key string) (v T, err error) {
	e, err := b.Get(ctx, key)
	if err != nil {
		return v, err
	}
	b.seen[key] = e.Revision()
	return v, json.Unmarshal(e.Value(), &v)
}

func (b *Bucket[T]) Store(ctx context.Context, key string, v T) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	rev, err := b.Update(ctx, key, raw, b.seen[key])
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConflict, err)
	}
	b.seen[key] = rev
	return nil
}

type Vehicle struct {
	Route   string `json:"route"`
	Parked  bool   `json:"parked"`
	Updates int    `json:"updates"`
}

// Dispatcher gives routes to vehicles.
type Dispatcher struct{ vehicles *Bucket[Vehicle] }

func (d *Dispatcher) Route(ctx context.Context, id, route string) error {
	v, err := d.vehicles.Load(ctx, id)
	if err != nil {
		return err
	}
	v.Route, v.Updates = route, v.Updates+1
	return d.vehicles.Store(ctx, id, v)
}

// Park writes through the embedded bucket: the last one wins.
func (d *Dispatcher) Park(ctx context.Context, ids []string) error {
	raw, err := json.Marshal(Vehicle{Parked: true})
	if err != nil {
		return err
	}
	for _, id := range ids {
		rev, err := d.vehicles.Put(ctx, id, raw) // want:W
		if err != nil {
			return fmt.Errorf("park %s: %w", id, err)
		}
		d.vehicles.seen[id] = rev
	}
	return nil
}

// Retire deletes what it has just read.
func (d *Dispatcher) Retire(ctx context.Context, id string) error {
	if _, err := d.vehicles.Load(ctx, id); err != nil {
		return err
	}
	return d.vehicles.Delete(ctx, id, jetstream.LastRevision(d.vehicles.seen[id]))
}
