package yn11

import (
	"context"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"
)

// Runner registration and cached results: expiries that decide no ownership
// of work.

type RunnerToken struct {
	ID        int64      `db:"id"`
	Hash      []byte     `db:"hash"`
	ExpiresAt *time.Time `db:"expires_at"`
}

type Cached struct {
	Key       string    `db:"key"`
	Body      []byte    `db:"body"`
	ExpiresAt time.Time `db:"expires_at"`
}

var (
	ErrExpired = errors.New("registration token expired")
	ErrMiss    = errors.New("cache miss")
)

type Server struct {
	db  *sqlx.DB
	now func() time.Time
}

func New(db *sqlx.DB) *Server { return &Server{db: db, now: time.Now} }

func (s *Server) Register(ctx context.Context, hash []byte, name string) error {
	var t RunnerToken
	if err := s.db.GetContext(ctx, &t, `SELECT id, hash, expires_at FROM runner_tokens WHERE hash = $1`, hash); err != nil {
		return err
	}
	if t.ExpiresAt != nil && t.ExpiresAt.Before(s.now()) {
		return ErrExpired
	}
	_, err := s.db.ExecContext(ctx, `INSERT INTO runners (name, token_id) VALUES ($1, $2)`, name, t.ID)
	return err
}

func (s *Server) Result(ctx context.Context, key string) ([]byte, error) {
	var c Cached
	if err := s.db.GetContext(ctx, &c, `SELECT key, body, expires_at FROM query_cache WHERE key = $1`, key); err != nil {
		return nil, err
	}
	if s.now().After(c.ExpiresAt) {
		return nil, ErrMiss
	}
	return c.Body, nil
}

// Purge removes what nobody can use any more.
func (s *Server) Purge(ctx context.Context) error {
	now := s.now()
	for _, q := range []string{
		`DELETE FROM query_cache WHERE expires_at < $1`,
		`DELETE FROM runner_tokens WHERE expires_at < $1`,
	} {
		if _, err := s.db.ExecContext(ctx, q, now); err != nil {
			return err
		}
	}
	return nil
}
