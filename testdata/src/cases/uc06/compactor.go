package uc06

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/consul/api"
)

var errBusy = errors.New("another compactor is running")

// Locker hides which lock service is used.
type Locker interface {
	TryLock(ctx context.Context) (unlock func(), err error)
}

// Manifest lists the segments that readers may open.
type Manifest struct {
	Segments []string `json:"segments"`
	Floor    uint64   `json:"floor"`
}

type Manifests interface {
	Load(ctx context.Context, topic string) (*Manifest, error)
	Save(ctx context.Context, topic string, m *Manifest) error
}

type Compactor struct {
	locks func(topic string) Locker
	mf    Manifests
	merge func(ctx context.Context, segs []string) (string, error)
}

func (c *Compactor) Compact(ctx context.Context, topic string) error {
	unlock, err := c.locks(topic).TryLock(ctx)
	if err != nil {
		if errors.Is(err, errBusy) {
			return nil
		}
		return err
	}
	defer unlock()

	m, err := c.mf.Load(ctx, topic)
	if err != nil || len(m.Segments) < 4 {
		return err
	}
	out, err := c.merge(ctx, m.Segments)
	if err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	m.Segments, m.Floor = []string{out}, m.Floor+1
	return c.mf.Save(ctx, topic, m) // want:C
}

type consulLocker struct {
	c       *api.Client
	key     string
	session string
}

func (l *consulLocker) TryLock(context.Context) (func(), error) {
	pair := &api.KVPair{Key: l.key, Session: l.session}
	ok, _, err := l.c.KV().Acquire(pair, nil)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errBusy
	}
	return func() { _, _, _ = l.c.KV().Release(pair, nil) }, nil
}

type consulManifests struct{ kv *api.KV }

func (s *consulManifests) Load(ctx context.Context, topic string) (*Manifest, error) {
	p, _, err := s.kv.Get("manifest/"+topic, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil || p == nil {
		return &Manifest{}, err
	}
	var m Manifest
	return &m, json.Unmarshal(p.Value, &m)
}

func (s *consulManifests) Save(ctx context.Context, topic string, m *Manifest) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = s.kv.Put(&api.KVPair{Key: "manifest/" + topic, Value: b}, (&api.WriteOptions{}).WithContext(ctx)) // may:C
	return err
}

func New(c *api.Client, session string, merge func(context.Context, []string) (string, error)) *Compactor {
	return &Compactor{
		locks: func(topic string) Locker {
			return &consulLocker{c: c, key: "compact/" + topic + "/lock", session: session}
		},
		mf:    &consulManifests{kv: c.KV()},
		merge: merge,
	}
}
