package ud06

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

type ProjectLock struct {
	Project   string    `json:"project"`
	Workspace string    `json:"workspace"`
	PullNum   int       `json:"pull"`
	Time      time.Time `json:"time"`
}

// DB stores the plan locks of a pull request automation server.
type DB struct {
	client *redis.Client
}

func (d *DB) lockKey(project, workspace string) string {
	return fmt.Sprintf("pr/lock/%s/%s", project, workspace)
}

// TryLock returns true and the new lock, or false and the one in the way.
func (d *DB) TryLock(ctx context.Context, l ProjectLock) (bool, ProjectLock, error) {
	key := d.lockKey(l.Project, l.Workspace)
	raw, err := json.Marshal(l)
	if err != nil {
		return false, l, err
	}
	val, err := d.client.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		if err := d.client.Set(ctx, key, raw, 0).Err(); err != nil { // want:C
			return false, l, fmt.Errorf("store lock: %w", err)
		}
		return true, l, nil
	}
	if err != nil {
		return false, l, fmt.Errorf("read lock: %w", err)
	}
	var cur ProjectLock
	if err := json.Unmarshal([]byte(val), &cur); err != nil {
		return false, l, fmt.Errorf("decode lock: %w", err)
	}
	return cur.PullNum == l.PullNum, cur, nil
}

// List returns all locks for the web page.
func (d *DB) List(ctx context.Context) ([]ProjectLock, error) {
	var out []ProjectLock
	it := d.client.Scan(ctx, 0, "pr/lock/*", 0).Iterator()
	for it.Next(ctx) {
		raw, err := d.client.Get(ctx, it.Val()).Bytes()
		if err != nil {
			return nil, err
		}
		var l ProjectLock
		if err := json.Unmarshal(raw, &l); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, it.Err()
}
