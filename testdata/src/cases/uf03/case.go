package uf03

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// StatusWriter forwards the change to whoever leads the cluster now.
type StatusWriter interface {
	UpdateStatus(ctx context.Context, nodeID, status string) error
}

// RaftState is what the consensus library tells about this server.
type RaftState interface {
	IsLeader() bool
	LeaderAddr() string
}

// heartbeater marks client nodes down when they miss their TTL.
type heartbeater struct {
	raft  RaftState
	nodes StatusWriter
	log   *slog.Logger

	mu     sync.Mutex
	timers map[string]*time.Timer
}

func newHeartbeater(r RaftState, n StatusWriter, l *slog.Logger) *heartbeater {
	return &heartbeater{raft: r, nodes: n, log: l, timers: make(map[string]*time.Timer)}
}

func (h *heartbeater) Reset(id string, ttl time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t, ok := h.timers[id]; ok {
		t.Reset(ttl)
		return
	}
	h.timers[id] = time.AfterFunc(ttl, func() { h.invalidate(id) })
}

func (h *heartbeater) invalidate(id string) {
	h.mu.Lock()
	delete(h.timers, id)
	h.mu.Unlock()

	if !h.raft.IsLeader() {
		h.log.Debug("ignoring node TTL: not the leader", "node", id)
		return
	}
	h.log.Warn("node TTL expired", "node", id)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	// the request says neither who sends it nor in which term: the new leader
	// marks a node down that talks to it all the time
	if err := h.nodes.UpdateStatus(ctx, id, "down"); err != nil { // want:C|W
		h.log.Error("update status", "node", id, "err", err)
	}
}

func (h *heartbeater) Stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, t := range h.timers {
		t.Stop()
		delete(h.timers, id)
	}
}
