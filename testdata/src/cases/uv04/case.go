package uv04

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/consul/api"
)

var errNotAcquired = errors.New("another deployer is at work")

// Deployer publishes route tables while it holds a session lock.
type Deployer struct {
	kv      *api.KV
	sess    *api.Session
	service string
	session string
	stop    chan struct{}
}

func NewDeployer(c *api.Client, service string) *Deployer {
	return &Deployer{kv: c.KV(), sess: c.Session(), service: service, stop: make(chan struct{})}
}

func (d *Deployer) lockKey() string { return "routes/" + d.service + "/.leader" }

func (d *Deployer) Acquire() error {
	id, _, err := d.sess.Create(&api.SessionEntry{
		Name: "deploy-" + d.service, TTL: "20s", Behavior: api.SessionBehaviorRelease, LockDelay: time.Second,
	}, nil)
	if err != nil {
		return fmt.Errorf("create session: %w", err)
	}
	ok, _, err := d.kv.Acquire(&api.KVPair{Key: d.lockKey(), Session: id}, nil)
	if err != nil {
		return err
	}
	if !ok {
		_, _ = d.sess.Destroy(id, nil)
		return errNotAcquired
	}
	d.session = id
	go func() { _ = d.sess.RenewPeriodic("20s", id, nil, d.stop) }() // may:M
	return nil
}

type route struct {
	Host    string `json:"host"`
	Backend string `json:"backend"`
}

// Publish replaces the routes. The session may have been invalidated while the
// tables were computed: the call does not say which session it is made for.
func (d *Deployer) Publish(version string, rs []route) error {
	if d.session == "" {
		return errNotAcquired
	}
	raw, err := json.Marshal(rs)
	if err != nil {
		return err
	}
	if _, err := d.kv.Put(&api.KVPair{Key: "routes/" + d.service + "/current", Value: raw}, nil); err != nil { // want:W|C
		return fmt.Errorf("publish %s: %w", version, err)
	}
	return nil
}

func (d *Deployer) Close() error {
	close(d.stop)
	_, err := d.sess.Destroy(d.session, nil)
	return err
}
