package uf06

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

type Project struct{ Repo, Path string }

// ProjectLock keeps two pull requests from applying one workspace at a time.
type ProjectLock struct {
	ID        string    `json:"id"` // drawn by the run that locks
	Project   Project   `json:"project"`
	Workspace string    `json:"workspace"`
	Pull      int       `json:"pull"`
	Time      time.Time `json:"time"`
}

type RedisDB struct{ client *redis.Client }

func (r *RedisDB) lockKey(p Project, workspace string) string {
	return fmt.Sprintf("lock/%s/%s/%s", p.Repo, p.Path, workspace)
}

// TryLock returns the lock that is in the way, if there is one.
func (r *RedisDB) TryLock(ctx context.Context, l ProjectLock) (bool, *ProjectLock, error) {
	key := r.lockKey(l.Project, l.Workspace)
	raw, err := json.Marshal(l)
	if err != nil {
		return false, nil, fmt.Errorf("serializing lock: %w", err)
	}
	val, err := r.client.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		if err := r.client.Set(ctx, key, raw, 0).Err(); err != nil { // want:C
			return false, nil, fmt.Errorf("db transaction failed: %w", err)
		}
		return true, &l, nil
	}
	if err != nil {
		return false, nil, fmt.Errorf("db transaction failed: %w", err)
	}
	var cur ProjectLock
	if err := json.Unmarshal([]byte(val), &cur); err != nil {
		return false, nil, fmt.Errorf("failed to deserialize current lock: %w", err)
	}
	return false, &cur, nil
}

// Unlock removes the lock if it is still the one that was taken.
func (r *RedisDB) Unlock(ctx context.Context, l *ProjectLock) (bool, error) {
	key := r.lockKey(l.Project, l.Workspace)
	val, err := r.client.Get(ctx, key).Bytes()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var cur ProjectLock
	if err := json.Unmarshal(val, &cur); err != nil {
		return false, fmt.Errorf("failed to deserialize current lock: %w", err)
	}
	if cur.ID != l.ID {
		return false, nil
	}
	n, err := r.client.Del(ctx, key).Result() // want:C
	return n == 1, err
}
