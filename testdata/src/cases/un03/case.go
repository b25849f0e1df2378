// Package un03 issues access tokens and rotates refresh tokens.
package un03

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var (
	ErrExpired = errors.New("session expired")
	ErrReuse   = errors.New("refresh token was used before")
)

type session struct {
	ID        int64
	UserID    int64
	ExpiresAt time.Time
	Revoked   bool
}

type Auth struct {
	pool   *pgxpool.Pool
	secret []byte
	access time.Duration
	idle   time.Duration
}

func hash(tok string) []byte { h := sha256.Sum256([]byte(tok)); return h[:] }

func (a *Auth) sign(user int64, now time.Time) (string, error) {
	return jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		Subject:   fmt.Sprint(user),
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(now.Add(a.access)),
	}).SignedString(a.secret)
}

// Refresh exchanges a refresh token for an access token and the next refresh
// token of the session.
func (a *Auth) Refresh(ctx context.Context, tok string) (access, next string, err error) {
	var s session
	err = a.pool.QueryRow(ctx, `SELECT id, user_id, expires_at, revoked FROM login_session WHERE token_hash = $1`, hash(tok)).
		Scan(&s.ID, &s.UserID, &s.ExpiresAt, &s.Revoked)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", "", ErrReuse
	}
	if err != nil {
		return "", "", err
	}
	now := time.Now()
	if s.Revoked || now.After(s.ExpiresAt) {
		if _, err := a.pool.Exec(ctx, `DELETE FROM login_session WHERE id = $1`, s.ID); err != nil {
			return "", "", err
		}
		return "", "", ErrExpired
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw)
	next = base64.RawURLEncoding.EncodeToString(raw)
	if _, err := a.pool.Exec(ctx, `UPDATE login_session SET token_hash = $2, expires_at = $3 WHERE id = $1`,
		s.ID, hash(next), now.Add(a.idle)); err != nil {
		return "", "", err
	}
	access, err = a.sign(s.UserID, now)
	return access, next, err
}

// Purge removes sessions that nobody came back to.
func (a *Auth) Purge(ctx context.Context) error {
	_, err := a.pool.Exec(ctx, `DELETE FROM login_session WHERE expires_at < $1`, time.Now())
	return err
}
