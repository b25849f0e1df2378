package hn39

import (
	"context"
	"database/sql"
	"time"

	"github.com/redis/go-redis/v9"
)

type lease struct {
	Owner   string
	Expires time.Time
}

type Table struct {
	db   *sql.DB
	rdb  *redis.Client
	self string
}

// Free compares with the database's own clock, read in the same statement.
func (t *Table) Free(ctx context.Context, name string) (bool, error) {
	var l lease
	var now time.Time
	err := t.db.QueryRowContext(ctx, `SELECT owner, expires_at, now() FROM leases WHERE name = $1`, name).Scan(&l.Owner, &l.Expires, &now)
	if err != nil {
		return false, err
	}
	return l.Owner == "" || l.Expires.Before(now), nil
}

// Idle does the same with the redis server's clock.
func (t *Table) Idle(ctx context.Context, node string) (bool, error) {
	ms, err := t.rdb.HGet(ctx, "heartbeats", node).Int64()
	if err != nil {
		return false, err
	}
	now, err := t.rdb.Time(ctx).Result()
	if err != nil {
		return false, err
	}
	return now.Sub(time.UnixMilli(ms)) > time.Minute, nil
}
