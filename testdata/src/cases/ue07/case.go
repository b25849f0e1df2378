package ue07

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/consul/api"
)

var ErrNotPrimary = errors.New("another node is primary")

// Role claims the primary key of a replication group with a session.
type Role struct {
	cl      *api.Client
	group   string
	node    string
	session string
}

func (r *Role) key() string { return "replication/" + r.group + "/primary" }

func (r *Role) open() error {
	id, _, err := r.cl.Session().Create(&api.SessionEntry{
		Name: r.group + "@" + r.node, TTL: "20s", Behavior: api.SessionBehaviorRelease,
	}, nil)
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	r.session = id
	return nil
}

type topology struct {
	Primary  string   `json:"primary"`
	Replicas []string `json:"replicas"`
}

// Promote acquires the key and publishes the new topology for the proxies.
func (r *Role) Promote(replicas []string) error { // may:M
	if err := r.open(); err != nil {
		return err
	}
	kv := r.cl.KV()
	ok, _, err := kv.Acquire(&api.KVPair{Key: r.key(), Value: []byte(r.node), Session: r.session}, nil)
	if err != nil {
		return err
	}
	if !ok {
		return ErrNotPrimary
	}
	doc, err := json.Marshal(topology{Primary: r.node, Replicas: replicas})
	if err != nil {
		return err
	}
	if _, err := kv.Put(&api.KVPair{Key: "replication/" + r.group + "/topology", Value: doc}, nil); err != nil { // want:C
		return fmt.Errorf("publish topology: %w", err)
	}
	return nil
}

// Demote removes the primary key if it still carries our session.
func (r *Role) Demote() error {
	cur, _, err := r.cl.KV().Get(r.key(), &api.QueryOptions{RequireConsistent: true})
	if err != nil {
		return err
	}
	if cur == nil || cur.Session != r.session {
		return ErrNotPrimary
	}
	if _, err := r.cl.KV().Delete(r.key(), nil); err != nil { // want:C
		return fmt.Errorf("demote %s: %w", r.node, err)
	}
	_, err = r.cl.Session().Destroy(r.session, nil)
	return err
}
