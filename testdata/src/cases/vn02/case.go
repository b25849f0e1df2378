package vn02

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"gorm.io/gorm"
)

// Expiries of credentials, agreed with the people who carry them.

type APIKey struct {
	ID        uint64 `gorm:"primaryKey"`
	Hash      string
	OwnerID   uint64
	ExpiresAt *time.Time
	LastUsed  time.Time
}

type Invite struct {
	Code      string `gorm:"primaryKey"`
	Email     string
	ExpiresAt time.Time
	UsedAt    *time.Time
}

type RunnerToken struct {
	Token     string `gorm:"primaryKey"`
	Scope     string
	ExpiresAt int64
}

var ErrExpired = errors.New("expired")

type Auth struct {
	db  *gorm.DB
	key []byte
}

func (a *Auth) Key(ctx context.Context, hash string) (*APIKey, error) {
	var k APIKey
	if err := a.db.WithContext(ctx).Where("hash = ?", hash).First(&k).Error; err != nil {
		return nil, err
	}
	if k.ExpiresAt != nil && k.ExpiresAt.Before(time.Now()) {
		return nil, ErrExpired
	}
	err := a.db.WithContext(ctx).Model(&k).Update("last_used", time.Now()).Error
	return &k, err
}

func (a *Auth) Accept(ctx context.Context, code string, account uint64) error {
	var inv Invite
	if err := a.db.WithContext(ctx).Where("code = ? AND used_at IS NULL", code).First(&inv).Error; err != nil {
		return err
	}
	if time.Until(inv.ExpiresAt) <= 0 {
		return ErrExpired
	}
	return a.db.WithContext(ctx).Exec(
		"INSERT INTO memberships (account_id, email, joined_at) VALUES (?, ?, ?)", account, inv.Email, time.Now()).Error
}

func (a *Auth) RegisterRunner(ctx context.Context, token, name string) error {
	var t RunnerToken
	if err := a.db.WithContext(ctx).First(&t, "token = ?", token).Error; err != nil {
		return err
	}
	if t.ExpiresAt < time.Now().Unix() {
		return ErrExpired
	}
	return a.db.WithContext(ctx).Exec("INSERT INTO runners (name, scope) VALUES (?, ?)", name, t.Scope).Error
}

func (a *Auth) Subject(raw string) (string, error) {
	var c jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(raw, &c, func(*jwt.Token) (any, error) { return a.key, nil })
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	if c.ExpiresAt == nil || c.ExpiresAt.Before(time.Now()) {
		return "", ErrExpired
	}
	return c.Subject, nil
}

// Sweep forgets what ran out.
func (a *Auth) Sweep(ctx context.Context) error {
	return a.db.WithContext(ctx).Where("expires_at < ?", time.Now()).Delete(&Invite{}).Error
}
