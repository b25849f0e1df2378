package hn24

import (
	"context"
	"errors"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/redis/go-redis/v9"
)

var ErrSlowDown = errors.New("too many requests")

type Limiter struct{ rdb *redis.Client }

type claims struct {
	jwt.RegisteredClaims
	Tenant string `json:"tenant"`
}

// Allow is a fixed window per tenant.
func (l *Limiter) Allow(ctx context.Context, tenant string, max int64) error {
	key := "rl:" + tenant + ":" + time.Now().UTC().Format("200601021504")
	n, err := l.rdb.Incr(ctx, key).Result()
	if err != nil {
		return err
	}
	if n == 1 {
		l.rdb.Expire(ctx, key, 2*time.Minute)
	}
	if n > max {
		return ErrSlowDown
	}
	return nil
}

// Verify parses claims; Owner and expiry in them belong to a user.
func (l *Limiter) Verify(ctx context.Context, raw string, key []byte) (*claims, error) {
	c := new(claims)
	if _, err := jwt.ParseWithClaims(raw, c, func(*jwt.Token) (any, error) { return key, nil }); err != nil {
		return nil, err
	}
	if c.ExpiresAt == nil || c.ExpiresAt.Before(time.Now()) {
		return nil, jwt.ErrTokenExpired
	}
	jti, err := l.rdb.Get(ctx, "jwt:last:"+c.Tenant).Result()
	if err == nil && jti == c.ID {
		if err := l.rdb.Del(ctx, "jwt:last:"+c.Tenant).Err(); err != nil {
			return nil, err
		}
	}
	return c, l.rdb.Set(ctx, "jwt:last:"+c.Tenant, c.ID, time.Hour).Err()
}
