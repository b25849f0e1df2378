package uf19

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"sync"
	"time"
)

// Clock can be replaced in tests.
type Clock interface{ Now() time.Time }

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

// instanceDesc is one member of the ring as its owner last gossiped it.
type instanceDesc struct {
	Addr      string   `json:"addr"`
	State     string   `json:"state"`
	Heartbeat int64    `json:"heartbeat"` // unix seconds, by the member's clock
	Tokens    []uint32 `json:"tokens"`
}

type member struct {
	addr     string
	lastBeat time.Time
	tokens   []uint32
}

func (d instanceDesc) member() member {
	return member{addr: d.Addr, lastBeat: time.Unix(d.Heartbeat, 0), tokens: d.Tokens}
}

type KV interface {
	Get(ctx context.Context, key string) ([]byte, error)
}

type Ring struct {
	kv      KV
	clock   Clock
	timeout time.Duration

	mu      sync.RWMutex
	members map[string]member
}

func New(kv KV, timeout time.Duration) *Ring {
	return &Ring{kv: kv, clock: systemClock{}, timeout: timeout, members: map[string]member{}}
}

func (r *Ring) Refresh(ctx context.Context) error {
	raw, err := r.kv.Get(ctx, "ring")
	if err != nil {
		return fmt.Errorf("read ring: %w", err)
	}
	var descs map[string]instanceDesc
	if err := json.Unmarshal(raw, &descs); err != nil {
		return fmt.Errorf("decode ring: %w", err)
	}
	next := make(map[string]member, len(descs))
	for id, d := range descs {
		next[id] = d.member()
	}
	r.mu.Lock()
	r.members = next
	r.mu.Unlock()
	return nil
}

func (r *Ring) healthy(m member) bool {
	return r.clock.Now().Sub(m.lastBeat) <= r.timeout // want:T
}

// Owner tells which member compacts the block now.
func (r *Ring) Owner(hash uint32) (string, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	type point struct {
		token uint32
		addr  string
	}
	var ps []point
	for _, m := range r.members {
		if !r.healthy(m) { // may:T
			continue
		}
		for _, t := range m.tokens {
			ps = append(ps, point{t, m.addr})
		}
	}
	if len(ps) == 0 {
		return "", false
	}
	sort.Slice(ps, func(i, j int) bool { return ps[i].token < ps[j].token })
	i := sort.Search(len(ps), func(i int) bool { return ps[i].token >= hash })
	return ps[i%len(ps)].addr, true
}
