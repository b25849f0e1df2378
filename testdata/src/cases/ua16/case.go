// Package ua16 coordinates backups: one node of the cluster runs a set.
package ua16

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/consul/api"
)

var errElsewhere = errors.New("runs on another node")

// underSession runs fn while a Consul session holds key.
func underSession[T any](ctx context.Context, c *api.Client, key, node string, fn func(context.Context) (T, error)) (T, error) {
	var zero T
	sid, _, err := c.Session().Create(&api.SessionEntry{
		Name: key, TTL: "30s", Behavior: api.SessionBehaviorDelete, LockDelay: 5 * time.Second,
	}, nil)
	if err != nil {
		return zero, fmt.Errorf("session: %w", err)
	}
	defer func() { _, _ = c.Session().Destroy(sid, nil) }()

	ok, _, err := c.KV().Acquire(&api.KVPair{Key: key, Value: []byte(node), Session: sid}, nil)
	if err != nil {
		return zero, fmt.Errorf("acquire %s: %w", key, err)
	}
	if !ok {
		return zero, errElsewhere
	}
	done := make(chan struct{})
	defer close(done)
	go func() { _ = c.Session().RenewPeriodic("30s", sid, nil, done) }()
	return fn(ctx)
}

type Dumper interface {
	DumpSet(ctx context.Context, set string) (bytes int64, err error)
}

type Backups struct {
	consul *api.Client
	db     *sql.DB
	dump   Dumper
	node   string
}

// RunSet dumps one set and records its size; it returns the bytes written.
func (b *Backups) RunSet(ctx context.Context, set string) (int64, error) {
	n, err := underSession(ctx, b.consul, "backup/"+set+"/run", b.node, func(ctx context.Context) (int64, error) {
		n, err := b.dump.DumpSet(ctx, set)
		if err != nil {
			return 0, fmt.Errorf("dump %s: %w", set, err)
		}
		_, err = b.db.ExecContext(ctx, // want:C
			`UPDATE backup_set SET last_bytes = $2, last_node = $3, finished_at = now() WHERE name = $1`, set, n, b.node)
		return n, err
	})
	if errors.Is(err, errElsewhere) {
		return 0, nil
	}
	return n, err
}
