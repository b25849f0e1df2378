package ue18

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Workers announce themselves in a hash; a recoverer on any host moves the
// tasks of dead workers back to the queue.
type Pool struct {
	rdb  redis.UniversalClient
	ns   string
	dead time.Duration
}

func (p *Pool) beatKey() string               { return p.ns + ":heartbeats" }
func (p *Pool) inflight(worker string) string { return p.ns + ":inflight:" + worker }

// Beat runs in every worker.
func (p *Pool) Beat(ctx context.Context, worker string) error {
	return p.rdb.HSet(ctx, p.beatKey(), worker, time.Now().Unix()).Err() // may:T
}

func (p *Pool) Recover(ctx context.Context) error {
	beats, err := p.rdb.HGetAll(ctx, p.beatKey()).Result()
	if err != nil {
		return fmt.Errorf("read heartbeats: %w", err)
	}
	var errs []error
	for worker, raw := range beats {
		sec, err := strconv.ParseInt(strings.TrimSpace(raw), 10, 64)
		if err != nil {
			slog.Warn("bad heartbeat", "worker", worker, "value", raw)
			continue
		}
		last := time.Unix(sec, 0)
		if time.Since(last) < p.dead { // want:T
			continue
		}
		slog.Info("worker is dead", "worker", worker, "last", last)
		if err := p.drain(ctx, worker); err != nil {
			errs = append(errs, fmt.Errorf("worker %s: %w", worker, err))
			continue
		}
		if err := p.rdb.HDel(ctx, p.beatKey(), worker).Err(); err != nil { // may:C
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (p *Pool) drain(ctx context.Context, worker string) error {
	for {
		_, err := p.rdb.LMove(ctx, p.inflight(worker), p.ns+":queue", "RIGHT", "LEFT").Result() // may:C
		if errors.Is(err, redis.Nil) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
