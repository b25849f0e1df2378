// Package hz12 deletes what nobody needs any more and checks API keys.
package hz12

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"time"

	"gorm.io/gorm"
)

type AuditEvent struct {
	ID        uint64
	Actor     string
	Action    string
	CreatedAt time.Time
}

type Invite struct {
	ID        uint64
	Email     string
	OwnerID   uint64 // who invited
	ExpiresAt time.Time
}

type APIKey struct {
	ID         uint64
	Hash       []byte
	OwnerID    uint64
	ExpiresAt  *time.Time
	LastUsedAt *time.Time
}

var (
	ErrKeyExpired    = errors.New("api key has expired")
	ErrInviteExpired = errors.New("invitation has expired")
)

type Janitor struct {
	db   *gorm.DB
	keep time.Duration
}

func (j *Janitor) Run(ctx context.Context) {
	t := time.NewTicker(6 * time.Hour)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			now := time.Now()
			res := j.db.WithContext(ctx).Where("created_at < ?", now.Add(-j.keep)).Delete(&AuditEvent{})
			slog.Info("audit retention", "deleted", res.RowsAffected, "err", res.Error)
			res = j.db.WithContext(ctx).Where("expires_at < ?", now).Delete(&Invite{})
			slog.Info("expired invites", "deleted", res.RowsAffected, "err", res.Error)
		}
	}
}

// Authenticate looks the key up and notes its use about once a minute.
func (j *Janitor) Authenticate(ctx context.Context, secret string) (uint64, error) {
	sum := sha256.Sum256([]byte(secret))
	var k APIKey
	if err := j.db.WithContext(ctx).First(&k, "hash = ?", sum[:]).Error; err != nil {
		return 0, err
	}
	now := time.Now()
	if k.ExpiresAt != nil && k.ExpiresAt.Before(now) {
		return 0, ErrKeyExpired
	}
	if k.LastUsedAt == nil || now.Sub(*k.LastUsedAt) > time.Minute {
		if err := j.db.WithContext(ctx).Model(&k).Update("last_used_at", now).Error; err != nil {
			return 0, err
		}
	}
	return k.OwnerID, nil
}

func (j *Janitor) Accept(ctx context.Context, id uint64, email string) error {
	var inv Invite
	if err := j.db.WithContext(ctx).First(&inv, id).Error; err != nil {
		return err
	}
	if inv.Email != email {
		return errors.New("invitation is for somebody else")
	}
	if time.Until(inv.ExpiresAt) <= 0 {
		return ErrInviteExpired
	}
	return j.db.WithContext(ctx).Delete(&inv).Error
}
