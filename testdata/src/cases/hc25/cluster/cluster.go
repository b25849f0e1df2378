// Package cluster is a home-made shard map.
package cluster

import "sync"

type Membership struct {
	mu     sync.RWMutex
	shards map[int]struct{}
}

func (m *Membership) OwnsShard(n int) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	_, ok := m.shards[n]
	return ok
}

func (m *Membership) Assign(ns []int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shards = make(map[int]struct{}, len(ns))
	for _, n := range ns {
		m.shards[n] = struct{}{}
	}
}
