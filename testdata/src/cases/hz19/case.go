// Package hz19 logs users in: lock-out after failures, second factor, refresh
// tokens of an identity provider.
package hz19

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

type User struct {
	ID          int64
	Email       string
	Failures    int
	LockedUntil sql.NullTime // after too many wrong passwords
}

type OAuthToken struct {
	UserID  int64
	Access  string
	Refresh string
	Expiry  time.Time
}

var (
	ErrLocked = errors.New("account is locked, try again later")
	ErrWrong  = errors.New("wrong email or password")
)

type Auth struct {
	db       *sql.DB
	compare  func(user int64, password string) bool
	exchange func(ctx context.Context, refresh string) (OAuthToken, error)

	mu sync.Mutex // refreshes of this process
}

func (a *Auth) Login(ctx context.Context, email, password string) (*User, error) {
	var u User
	err := a.db.QueryRowContext(ctx, `SELECT id, email, failures, locked_until FROM users WHERE email = $1`, email).
		Scan(&u.ID, &u.Email, &u.Failures, &u.LockedUntil)
	if err != nil {
		return nil, ErrWrong
	}
	if u.LockedUntil.Valid && time.Now().Before(u.LockedUntil.Time) {
		return nil, ErrLocked
	}
	if !a.compare(u.ID, password) {
		u.Failures++
		if u.Failures >= 5 {
			u.LockedUntil = sql.NullTime{Time: time.Now().Add(15 * time.Minute), Valid: true}
		}
		_, err := a.db.ExecContext(ctx, `UPDATE users SET failures = $2, locked_until = $3 WHERE id = $1`, u.ID, u.Failures, u.LockedUntil)
		return nil, errors.Join(ErrWrong, err)
	}
	_, err = a.db.ExecContext(ctx, `UPDATE users SET failures = 0, locked_until = NULL WHERE id = $1`, u.ID)
	return &u, err
}

// Token returns a valid access token and refreshes it shortly before its end.
func (a *Auth) Token(ctx context.Context, user int64) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var t OAuthToken
	err := a.db.QueryRowContext(ctx, `SELECT user_id, access, refresh, expiry FROM oauth_tokens WHERE user_id = $1`, user).
		Scan(&t.UserID, &t.Access, &t.Refresh, &t.Expiry)
	if err != nil {
		return "", err
	}
	if time.Until(t.Expiry) > time.Minute {
		return t.Access, nil
	}
	n, err := a.exchange(ctx, t.Refresh)
	if err != nil {
		return "", err
	}
	_, err = a.db.ExecContext(ctx, `UPDATE oauth_tokens SET access = $2, refresh = $3, expiry = $4 WHERE user_id = $1`,
		user, n.Access, n.Refresh, n.Expiry)
	return n.Access, err
}
