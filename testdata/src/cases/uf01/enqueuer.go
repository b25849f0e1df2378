package uf01

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
)

type periodic struct {
	Name string
	Spec string
	Args map[string]any
	Next time.Time
}

// Enqueuer writes down which periodic jobs are due; one process at a time.
type Enqueuer struct {
	rdb redis.UniversalClient
	ns  string
}

func (e *Enqueuer) Tick(ctx context.Context, due []periodic) error { // may:M
	m := newMutex(e.rdb, e.ns+":periodic", withTTL(10*time.Second))
	ok, err := m.TryLock(ctx)
	if err != nil || !ok {
		return err
	}
	defer func() {
		if err := m.Unlock(context.WithoutCancel(ctx)); err != nil {
			slog.Warn("unlock", "err", err)
		}
	}()
	for _, p := range due {
		raw, err := json.Marshal(p.Args)
		if err != nil {
			return fmt.Errorf("job %s: %w", p.Name, err)
		}
		held, err := m.Held(ctx)
		if err != nil {
			return err
		}
		if !held {
			return ErrNotHeld
		}
		if err := e.rdb.HSet(ctx, e.ns+":due", p.Name, raw).Err(); err != nil { // want:C|W
			return err
		}
	}
	return nil
}
