package hn25

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-redsync/redsync/v4"
	"gorm.io/gorm"
)

var (
	errUsed    = errors.New("invite was used")
	errExpired = errors.New("invite expired")
)

type Invite struct {
	ID        uint
	Code      string
	CreatedBy uint
	ClaimedBy *uint
	ExpiresAt time.Time
}

type Service struct {
	db *gorm.DB
	rs *redsync.Redsync
}

// Accept: an invite is claimed by a user, not by a process.
func (s *Service) Accept(r *http.Request, userID uint) error {
	var inv Invite
	if err := s.db.WithContext(r.Context()).Where("code = ?", r.FormValue("code")).First(&inv).Error; err != nil {
		return err
	}
	switch {
	case inv.ClaimedBy != nil && *inv.ClaimedBy != userID:
		return errUsed
	case time.Now().After(inv.ExpiresAt):
		return errExpired
	}
	return s.db.Model(&inv).Update("claimed_by", userID).Error
}

// Warm is the place where this application does use a distributed lock; it
// only reads under it.
func (s *Service) Warm(ctx context.Context, put func(string, int64)) error {
	m := s.rs.NewMutex("warmup")
	if err := m.LockContext(ctx); err != nil {
		return fmt.Errorf("warmup: %w", err)
	}
	defer m.UnlockContext(ctx)
	var n int64
	if err := s.db.Model(&Invite{}).Where("expires_at > ?", time.Now()).Count(&n).Error; err != nil {
		return err
	}
	put("invites", n)
	return nil
}
