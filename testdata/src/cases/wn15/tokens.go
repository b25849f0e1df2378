package wn15

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jmoiron/sqlx"
)

var ErrToken = errors.New("token is not valid")

// Credential is an OAuth grant of a customer at a vendor.
type Credential struct {
	Vendor  string    `db:"vendor"`
	UserID  int64     `db:"user_id"`
	Access  string    `db:"access_token"`
	Refresh string    `db:"refresh_token"`
	Expiry  time.Time `db:"expires_at"`
}

func (c *Credential) fresh() bool {
	return c.Access != "" && c.Expiry.Round(0).Add(-30*time.Second).After(time.Now())
}

type Vault struct {
	mu       sync.Mutex
	db       *sqlx.DB
	key      []byte
	exchange func(ctx context.Context, refresh string) (Credential, error)
}

// Access returns a token that is good for another half minute. The mutex is
// local; the vendor accepts a refresh token more than once.
func (v *Vault) Access(ctx context.Context, vendor string, user int64) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var c Credential
	err := v.db.GetContext(ctx, &c, `SELECT vendor, user_id, access_token, refresh_token, expires_at
		FROM credentials WHERE vendor = $1 AND user_id = $2`, vendor, user)
	if err != nil {
		return "", err
	}
	if c.fresh() {
		return c.Access, nil
	}
	next, err := v.exchange(ctx, c.Refresh)
	if err != nil {
		return "", fmt.Errorf("refresh %s: %w", vendor, err)
	}
	next.Vendor, next.UserID = vendor, user
	_, err = v.db.NamedExecContext(ctx, `UPDATE credentials SET access_token = :access_token,
		refresh_token = :refresh_token, expires_at = :expires_at WHERE vendor = :vendor AND user_id = :user_id`, next)
	return next.Access, err
}

// Require lets requests with a signed, unexpired token through.
func (v *Vault) Require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		var cl jwt.RegisteredClaims
		if ok {
			_, err := jwt.ParseWithClaims(raw, &cl, func(*jwt.Token) (any, error) { return v.key, nil })
			ok = err == nil
		}
		if !ok || cl.ExpiresAt == nil || time.Now().After(cl.ExpiresAt.Time) {
			http.Error(w, ErrToken.Error(), http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
