package hz02

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Session is a login of one browser.
type Session struct {
	Token     string
	UserID    int64
	ExpiresAt time.Time
	LastSeen  time.Time
}

func (s *Session) Expired() bool { return time.Now().After(s.ExpiresAt) }

type Store struct {
	pool *pgxpool.Pool
	ttl  time.Duration
	idle time.Duration
}

var ErrNoSession = errors.New("no session")

func (s *Store) Create(ctx context.Context, user int64) (*Session, error) {
	raw := make([]byte, 32)
	if _, err := rand.Read(raw); err != nil {
		return nil, err
	}
	now := time.Now()
	v := &Session{Token: base64.RawURLEncoding.EncodeToString(raw), UserID: user, ExpiresAt: now.Add(s.ttl), LastSeen: now}
	_, err := s.pool.Exec(ctx, `INSERT INTO sessions (token, user_id, expires_at, last_seen) VALUES ($1, $2, $3, $4)`,
		v.Token, v.UserID, v.ExpiresAt, v.LastSeen)
	return v, err
}

func (s *Store) Get(ctx context.Context, token string) (*Session, error) {
	v := Session{Token: token}
	err := s.pool.QueryRow(ctx, `SELECT user_id, expires_at, last_seen FROM sessions WHERE token = $1`, token).
		Scan(&v.UserID, &v.ExpiresAt, &v.LastSeen)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNoSession
	}
	if err != nil {
		return nil, err
	}
	if v.Expired() || time.Since(v.LastSeen) > s.idle {
		_, _ = s.pool.Exec(ctx, `DELETE FROM sessions WHERE token = $1`, token)
		return nil, ErrNoSession
	}
	if time.Since(v.LastSeen) > time.Minute {
		if _, err := s.pool.Exec(ctx, `UPDATE sessions SET last_seen = $2 WHERE token = $1`, token, time.Now()); err != nil {
			return nil, err
		}
	}
	return &v, nil
}

// Purge runs hourly.
func (s *Store) Purge(ctx context.Context) (int64, error) {
	tag, err := s.pool.Exec(ctx, `DELETE FROM sessions WHERE expires_at < $1`, time.Now())
	return tag.RowsAffected(), err
}

func (s *Store) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie("sid")
		if err != nil {
			http.Redirect(w, r, "/login", http.StatusFound)
			return
		}
		if _, err := s.Get(r.Context(), c.Value); err != nil {
			http.Redirect(w, r, "/login", http.StatusFound)
			return
		}
		next.ServeHTTP(w, r)
	})
}
