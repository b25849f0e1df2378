package pn05

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Sessions, API keys and invitations: wall-clock expiries that decide what a
// user may do, not who may work.

type Session struct {
	ID        string
	UserID    int64
	ExpiresAt time.Time
	RotatedAt time.Time
}

type APIKey struct {
	Hash      []byte
	OwnerID   int64
	ExpiresAt *time.Time
}

var (
	ErrExpired = errors.New("expired")
	ErrUnknown = errors.New("unknown session")
)

func (k *APIKey) Valid(now time.Time) bool { return k.ExpiresAt == nil || now.Before(*k.ExpiresAt) }

type Sessions struct {
	pool *pgxpool.Pool
	ttl  time.Duration
}

func (s *Sessions) Get(ctx context.Context, id string) (*Session, error) {
	v := &Session{ID: id}
	err := s.pool.QueryRow(ctx,
		`SELECT user_id, expires_at, rotated_at FROM session WHERE id = $1`, id).
		Scan(&v.UserID, &v.ExpiresAt, &v.RotatedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrUnknown
	}
	if err != nil {
		return nil, err
	}
	if time.Now().After(v.ExpiresAt) {
		return nil, ErrExpired
	}
	if time.Until(v.ExpiresAt) < s.ttl/2 {
		v.ExpiresAt = time.Now().Add(s.ttl)
		if _, err := s.pool.Exec(ctx, `UPDATE session SET expires_at = $2 WHERE id = $1`, id, v.ExpiresAt); err != nil {
			return nil, fmt.Errorf("extend session: %w", err)
		}
	}
	return v, nil
}

// Prune drops what ran out.
func (s *Sessions) Prune(ctx context.Context) (int64, error) {
	tag, err := s.pool.Exec(ctx, `DELETE FROM session WHERE expires_at < $1`, time.Now())
	if err != nil {
		return 0, err
	}
	n := tag.RowsAffected()
	tag, err = s.pool.Exec(ctx, `DELETE FROM invite WHERE accepted_at IS NULL AND expires_at < $1`, time.Now().UTC())
	if err != nil {
		return n, err
	}
	return n + tag.RowsAffected(), nil
}
