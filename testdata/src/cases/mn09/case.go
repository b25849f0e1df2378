package mn09

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
)

// Times that decide about access, caches and plans, not about who works.

var (
	ErrExpired = errors.New("expired")
	ErrUsed    = errors.New("already used")
)

type invite struct {
	Code      string       `db:"code"`
	InvitedBy int64        `db:"invited_by"`
	ExpiresAt time.Time    `db:"expires_at"`
	UsedAt    sql.NullTime `db:"used_at"`
}

type Accounts struct{ db *sqlx.DB }

func (a *Accounts) Redeem(ctx context.Context, code string, user int64) error {
	var in invite
	if err := a.db.GetContext(ctx, &in, `SELECT code, invited_by, expires_at, used_at FROM invites WHERE code = $1`, code); err != nil {
		return fmt.Errorf("load invite: %w", err)
	}
	if in.UsedAt.Valid {
		return ErrUsed
	}
	if time.Now().After(in.ExpiresAt) {
		return ErrExpired
	}
	_, err := a.db.ExecContext(ctx, `UPDATE invites SET used_at = now(), used_by = $2 WHERE code = $1 AND used_at IS NULL`, code, user)
	return err
}

// RunnerToken lets a new runner register within an hour.
func (a *Accounts) RunnerToken(ctx context.Context, token string) (scope string, err error) {
	var expires time.Time
	err = a.db.QueryRowContext(ctx, `SELECT scope, expires_at FROM registration_tokens WHERE token = $1`, token).Scan(&scope, &expires)
	if err != nil {
		return "", err
	}
	if expires.Before(time.Now().UTC()) {
		return "", ErrExpired
	}
	return scope, nil
}

// Due lists reminders; run_at is a plan.
func (a *Accounts) Due(ctx context.Context) (ids []int64, err error) {
	err = a.db.SelectContext(ctx, &ids, `SELECT id FROM reminders WHERE run_at <= $1`, time.Now())
	return ids, err
}

func (a *Accounts) Purge(ctx context.Context, keep time.Duration) error {
	_, err := a.db.ExecContext(ctx, `DELETE FROM login_sessions WHERE expires_at < $1`, time.Now().Add(-keep))
	return err
}

type cached struct {
	val     string
	expires time.Time
}

type cache struct {
	mu sync.Mutex
	m  map[string]cached
}

func (c *cache) get(k string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.m[k]
	if !ok || time.Now().After(v.expires) {
		delete(c.m, k)
		return "", false
	}
	return v.val, true
}
