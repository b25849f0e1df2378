package uc17

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/consul/api"
)

var ErrTaken = errors.New("room is hosted elsewhere")

// Rooms maps chat rooms to the process that hosts them, by a Consul key locked
// with the session of the process.
type Rooms struct {
	kv      *api.KV
	session string
	addr    string
}

func Join(c *api.Client, addr string) (*Rooms, error) {
	id, _, err := c.Session().Create(&api.SessionEntry{
		Name: "rooms", TTL: "15s", Behavior: api.SessionBehaviorRelease,
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	return &Rooms{kv: c.KV(), session: id, addr: addr}, nil
}

func owner(room string) string { return "rooms/" + room + "/owner" }

func (r *Rooms) Claim(ctx context.Context, room string) error {
	ok, _, err := r.kv.Acquire(&api.KVPair{Key: owner(room), Value: []byte(r.addr), Session: r.session},
		(&api.WriteOptions{}).WithContext(ctx))
	if err != nil {
		return err
	}
	if !ok {
		return ErrTaken
	}
	return nil
}

func (r *Rooms) lookup(ctx context.Context, room string) (*api.KVPair, error) {
	p, _, err := r.kv.Get(owner(room), (&api.QueryOptions{RequireConsistent: true}).WithContext(ctx))
	return p, err
}

// Close removes the room if this process still hosts it; the key may change
// hands between the look and the delete.
func (r *Rooms) Close(ctx context.Context, room string) error {
	p, err := r.lookup(ctx, room)
	if err != nil {
		return err
	}
	if p == nil || p.Session != r.session {
		return nil
	}
	_, err = r.kv.Delete(p.Key, (&api.WriteOptions{}).WithContext(ctx)) // want:C
	return err
}

func (r *Rooms) Where(ctx context.Context, room string) (string, error) {
	p, err := r.lookup(ctx, room)
	if err != nil || p == nil || p.Session == "" {
		return "", err
	}
	return string(p.Value), nil
}
