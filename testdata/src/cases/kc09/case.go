// Package kc09 is the sign-in of a web application: sessions, API keys and
// invitations expire by the wall clock.
package kc09

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"
)

type Session struct {
	ID        string `gorm:"primaryKey"`
	UserID    uint
	ExpiresAt time.Time
	LastSeen  time.Time
}

type APIKey struct {
	ID        uint
	OwnerID   uint
	Hash      []byte
	ExpiresAt *time.Time
}

type Invitation struct {
	Token     string `gorm:"primaryKey"`
	Email     string
	ExpiresAt time.Time
	UsedAt    *time.Time
}

var ErrExpired = errors.New("expired")

type Auth struct {
	db  *gorm.DB
	rdb *redis.Client
}

func (a *Auth) Session(ctx context.Context, id string) (*Session, error) {
	var s Session
	if raw, err := a.rdb.Get(ctx, "session:"+id).Bytes(); err == nil && json.Unmarshal(raw, &s) == nil {
		if time.Now().After(s.ExpiresAt) {
			return nil, ErrExpired
		}
		return &s, nil
	}
	if err := a.db.WithContext(ctx).Where("id = ? AND expires_at > ?", id, time.Now()).First(&s).Error; err != nil {
		return nil, err
	}
	if time.Since(s.LastSeen) > time.Minute {
		a.db.WithContext(ctx).Model(&s).Update("last_seen", time.Now())
	}
	return &s, nil
}

func (a *Auth) RevokeKey(ctx context.Context, user, key uint) error {
	var k APIKey
	if err := a.db.WithContext(ctx).First(&k, key).Error; err != nil {
		return err
	}
	if k.OwnerID != user {
		return gorm.ErrRecordNotFound
	}
	if k.ExpiresAt != nil && k.ExpiresAt.Before(time.Now()) {
		return ErrExpired
	}
	return a.db.WithContext(ctx).Delete(&k).Error
}

func (a *Auth) Accept(ctx context.Context, token string) error {
	now := time.Now()
	res := a.db.WithContext(ctx).Model(&Invitation{}).
		Where("token = ? AND used_at IS NULL AND expires_at > ?", token, now).
		Update("used_at", now)
	if res.Error == nil && res.RowsAffected == 0 {
		return ErrExpired
	}
	return res.Error
}
