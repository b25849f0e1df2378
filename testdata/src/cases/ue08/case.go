package ue08

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Deploy locks live in a key-value bucket, one key per environment.

type claim struct {
	Node   string    `json:"node"`
	PID    int       `json:"pid"`
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
}

type HeldError struct{ By claim }

func (e *HeldError) Error() string {
	return fmt.Sprintf("environment is locked by %s (%s)", e.By.Node, e.By.Reason)
}

type EnvLocks struct {
	kv   jetstream.KeyValue
	node string
}

func NewEnvLocks(kv jetstream.KeyValue) (*EnvLocks, error) {
	h, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &EnvLocks{kv: kv, node: h}, nil
}

func (l *EnvLocks) lookup(ctx context.Context, env string) (*claim, error) {
	e, err := l.kv.Get(ctx, "lock."+env)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c := new(claim)
	if err := json.Unmarshal(e.Value(), c); err != nil {
		return nil, fmt.Errorf("lock.%s: %w", env, err)
	}
	return c, nil
}

// Acquire fails with HeldError if the environment is locked.
func (l *EnvLocks) Acquire(ctx context.Context, env, reason string) error {
	held, err := l.lookup(ctx, env)
	if err != nil {
		return err
	}
	if held != nil {
		return &HeldError{By: *held}
	}
	b, err := json.Marshal(claim{Node: l.node, PID: os.Getpid(), Reason: reason, Since: time.Now()})
	if err != nil {
		return err
	}
	if _, err := l.kv.Put(ctx, "lock."+env, b); err != nil { // want:C
		return fmt.Errorf("lock %s: %w", env, err)
	}
	return nil
}

// Release drops our own lock and leaves everybody else's alone.
func (l *EnvLocks) Release(ctx context.Context, env string) error {
	held, err := l.lookup(ctx, env)
	switch {
	case err != nil:
		return err
	case held == nil:
		return nil
	case held.Node != l.node || held.PID != os.Getpid():
		return &HeldError{By: *held}
	}
	return l.kv.Delete(ctx, "lock."+env) // want:C
}
