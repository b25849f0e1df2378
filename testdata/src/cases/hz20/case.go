// Package hz20 is the admin side of a cluster: who leads, which peers are up.
// It changes nothing but gauges and its own cache.
package hz20

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

type Status struct {
	Leader string   `json:"leader"`
	Peers  []string `json:"peers"`
	Taken  string   `json:"taken_at"`
}

type Monitor struct {
	cli  *clientv3.Client
	el   *concurrency.Election
	node string

	mu     sync.RWMutex
	last   Status
	lastAt time.Time
	leads  bool
}

func (m *Monitor) poll(ctx context.Context) error {
	resp, err := m.el.Leader(ctx)
	if err != nil {
		return err
	}
	leader := string(resp.Kvs[0].Value)
	peers, err := m.cli.Get(ctx, "/peers/", clientv3.WithPrefix())
	if err != nil {
		return err
	}
	now := time.Now()
	s := Status{Leader: leader, Taken: now.Format(time.RFC3339)}
	for _, kv := range peers.Kvs {
		s.Peers = append(s.Peers, string(kv.Value))
	}

	m.mu.Lock()
	defer m.mu.Unlock()
	if leader == m.node && !m.leads {
		slog.Info("this node leads", "node", m.node)
	}
	m.leads = leader == m.node
	m.last, m.lastAt = s, now
	return nil
}

func (m *Monitor) Run(ctx context.Context) {
	t := time.NewTicker(3 * time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if err := m.poll(ctx); err != nil {
				slog.Warn("poll", "err", err)
			}
		}
	}
}

func (m *Monitor) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if time.Since(m.lastAt) > 15*time.Second {
		http.Error(w, "status is stale", http.StatusServiceUnavailable)
		return
	}
	if m.leads {
		w.Header().Set("X-Leader", m.node)
	}
	_ = json.NewEncoder(w).Encode(m.last)
}
