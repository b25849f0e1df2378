package uc14

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/redis/go-redis/v9"

	"example.com/corpus/cases/uc14/elect"
)

type Flag struct {
	Key      string          `json:"key"`
	On       bool            `json:"on"`
	Variants json.RawMessage `json:"variants"`
}

// Syncer copies feature flags from the vendor into Redis, where the services
// read them. Only the leader should write.
type Syncer struct {
	gate *elect.Gate
	rdb  redis.UniversalClient
	env  string
	url  string
}

func (s *Syncer) Run(ctx context.Context) {
	t := time.NewTicker(15 * time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			_ = s.sync(ctx)
		}
	}
}

func (s *Syncer) sync(ctx context.Context) error {
	if !s.gate.Leading() {
		return nil
	}
	flags, err := s.fetch(ctx)
	if err != nil {
		return err
	}
	vals := make(map[string]any, len(flags))
	for _, f := range flags {
		b, err := json.Marshal(f)
		if err != nil {
			return err
		}
		vals[f.Key] = b
	}
	if err := s.rdb.HSet(ctx, "flags:"+s.env, vals).Err(); err != nil { // want:C
		return fmt.Errorf("store flags: %w", err)
	}
	return nil
}

func (s *Syncer) fetch(ctx context.Context) ([]Flag, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var out []Flag
	return out, json.NewDecoder(resp.Body).Decode(&out)
}
