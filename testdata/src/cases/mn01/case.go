package mn01

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

var (
	ErrNotOwner = errors.New("slot belongs to another node")
	ErrTaken    = errors.New("slot is taken")
)

type slot struct {
	Owner string `json:"owner"`
	Done  int64  `json:"done"`
}

// Slots keeps one entry per slot in a key-value bucket.
type Slots struct {
	kv   jetstream.KeyValue
	node string
}

func (s *Slots) read(ctx context.Context, key string) (slot, uint64, error) {
	e, err := s.kv.Get(ctx, key)
	if err != nil {
		return slot{}, 0, fmt.Errorf("get %s: %w", key, err)
	}
	var v slot
	if err := json.Unmarshal(e.Value(), &v); err != nil {
		return slot{}, 0, fmt.Errorf("decode %s: %w", key, err)
	}
	if v.Owner != s.node {
		return slot{}, 0, ErrNotOwner
	}
	return v, e.Revision(), nil
}

// Take creates the entry, and only if there is none.
func (s *Slots) Take(ctx context.Context, key string) error {
	raw, err := json.Marshal(slot{Owner: s.node})
	if err != nil {
		return err
	}
	if _, err := s.kv.Create(ctx, key, raw); err != nil {
		if errors.Is(err, jetstream.ErrKeyExists) {
			return ErrTaken
		}
		return err
	}
	return nil
}

// Progress repeats the comparison by the revision that was read.
func (s *Slots) Progress(ctx context.Context, key string, done int64) error {
	v, rev, err := s.read(ctx, key)
	if err != nil {
		return err
	}
	v.Done = done
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := s.kv.Update(ctx, key, raw, rev); err != nil {
		return fmt.Errorf("slot %s changed: %w", key, err)
	}
	return nil
}

func (s *Slots) Give(ctx context.Context, key string) error {
	_, rev, err := s.read(ctx, key)
	if err != nil {
		return err
	}
	return s.kv.Delete(ctx, key, jetstream.LastRevision(rev))
}
