package uf17

import (
	"context"
	"log/slog"
	"time"

	"example.com/corpus/cases/uf17/store"
)

const heartbeatTimeout = 30 * time.Second

// Reassigner runs in every engine; whoever comes first frees the slots.
type Reassigner struct {
	workers *store.Workers
	log     *slog.Logger
}

func (r *Reassigner) Run(ctx context.Context) error {
	t := time.NewTicker(heartbeatTimeout / 6)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
		cutoff := time.Now().Add(-heartbeatTimeout)
		n, err := r.workers.Deactivate(ctx, cutoff) // want:T
		if err != nil {
			r.log.Error("reassign", "err", err)
			continue
		}
		if n > 0 {
			r.log.Warn("workers went silent", "count", n)
		}
	}
}
