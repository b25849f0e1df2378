package pn07

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
)

// member is a row of cluster_member: the counter goes up with every heartbeat.
type member struct {
	Node    string `db:"node"`
	Counter int64  `db:"counter"`
}

type sighting struct {
	counter int64
	since   time.Time // when this process first saw the counter, monotonic
}

// Watcher declares a node dead when its counter did not move for a while by
// this process's own stopwatch.
type Watcher struct {
	db      *sqlx.DB
	timeout time.Duration

	mu   sync.Mutex
	seen map[string]sighting
}

var ErrAlive = errors.New("node came back")

func (w *Watcher) observe(ms []member) []member {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	var dead []member
	for _, m := range ms {
		s, ok := w.seen[m.Node]
		if !ok || s.counter != m.Counter {
			w.seen[m.Node] = sighting{counter: m.Counter, since: now}
			continue
		}
		if now.Sub(s.since) >= w.timeout {
			dead = append(dead, m)
		}
	}
	return dead
}

// Scan is called periodically.
func (w *Watcher) Scan(ctx context.Context) error {
	var ms []member
	if err := w.db.SelectContext(ctx, &ms, `SELECT node, counter FROM cluster_member WHERE state = 'up'`); err != nil {
		return err
	}
	for _, m := range w.observe(ms) {
		if err := w.evict(ctx, m); err != nil && !errors.Is(err, ErrAlive) {
			return fmt.Errorf("evict %s: %w", m.Node, err)
		}
	}
	return nil
}

func (w *Watcher) evict(ctx context.Context, m member) error {
	res, err := w.db.ExecContext(ctx,
		`UPDATE cluster_member SET state = 'down' WHERE node = $1 AND counter = $2`, m.Node, m.Counter)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrAlive
	}
	return nil
}
