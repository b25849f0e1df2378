package ue24

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Beat is posted by the workers.
type Beat struct {
	Worker string    `json:"worker"`
	Shards []int64   `json:"shards"`
	SentAt time.Time `json:"sent_at"`
}

// Coordinator takes shards away from workers that stopped beating.
type Coordinator struct {
	db      *sql.DB
	timeout time.Duration

	mu    sync.Mutex
	beats map[string]Beat
}

func (c *Coordinator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var b Beat
	if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	c.beats[b.Worker] = b
	c.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (c *Coordinator) silent() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	now := time.Now()
	for name, b := range c.beats {
		if now.Sub(b.SentAt) > c.timeout { // want:T
			out = append(out, name)
			delete(c.beats, name)
		}
	}
	return out
}

func (c *Coordinator) reassign(ctx context.Context, worker string) error {
	res, err := c.db.ExecContext(ctx,
		`UPDATE shard_owner SET worker = NULL, generation = generation + 1 WHERE worker = $1`, worker)
	if err != nil {
		return fmt.Errorf("free shards of %s: %w", worker, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	slog.Info("freed shards", "worker", worker, "n", n)
	return nil
}

func (c *Coordinator) Watch(ctx context.Context) {
	t := time.NewTicker(c.timeout / 4)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			for _, w := range c.silent() {
				if err := c.reassign(ctx, w); err != nil {
					slog.Error("reassign", "err", err)
				}
			}
		}
	}
}
