package hn03

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

var errExpired = errors.New("token expired")

type Token struct {
	ID        int64
	OwnerID   int64
	ExpiresAt *time.Time
	RevokedAt *time.Time
}

func (t *Token) Usable(now time.Time) bool {
	return t.RevokedAt == nil && (t.ExpiresAt == nil || now.Before(*t.ExpiresAt))
}

type Store struct{ pool *pgxpool.Pool }

func (s *Store) lookup(ctx context.Context, raw string) (*Token, error) {
	sum := sha256.Sum256([]byte(raw))
	var t Token
	err := s.pool.QueryRow(ctx, `SELECT id, owner_id, expires_at, revoked_at FROM api_tokens WHERE digest = $1`, sum[:]).
		Scan(&t.ID, &t.OwnerID, &t.ExpiresAt, &t.RevokedAt)
	if err != nil {
		return nil, err
	}
	if !t.Usable(time.Now()) {
		return nil, errExpired
	}
	_, err = s.pool.Exec(ctx, `UPDATE api_tokens SET last_used_at = now() WHERE id = $1`, t.ID)
	return &t, err
}

func (s *Store) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if _, err := s.lookup(r.Context(), raw); err != nil {
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Store) Purge(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM api_tokens WHERE expires_at < $1`, time.Now().AddDate(0, 0, -7))
	return err
}
