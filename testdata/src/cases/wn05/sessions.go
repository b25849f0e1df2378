package wn05

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/http"
	"time"

	"gorm.io/gorm"
)

// Session is a login: the row has a user and an expiry, but no owner of work.
type Session struct {
	Token     string `gorm:"primaryKey"`
	UserID    uint
	UserAgent string
	ExpiresAt time.Time
	SeenAt    time.Time
}

var ErrNoSession = errors.New("no session")

type Sessions struct {
	db   *gorm.DB
	life time.Duration
}

func (s *Sessions) Create(w http.ResponseWriter, r *http.Request, userID uint) error {
	b := make([]byte, 24)
	if _, err := rand.Read(b); err != nil {
		return err
	}
	now := time.Now().UTC()
	row := Session{
		Token: base64.RawURLEncoding.EncodeToString(b), UserID: userID, UserAgent: r.UserAgent(),
		ExpiresAt: now.Add(s.life), SeenAt: now,
	}
	if err := s.db.Create(&row).Error; err != nil {
		return err
	}
	http.SetCookie(w, &http.Cookie{Name: "sid", Value: row.Token, Expires: row.ExpiresAt, HttpOnly: true, Secure: true})
	return nil
}

func (s *Sessions) Lookup(r *http.Request) (*Session, error) {
	c, err := r.Cookie("sid")
	if err != nil {
		return nil, ErrNoSession
	}
	var row Session
	err = s.db.First(&row, "token = ?", c.Value).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, ErrNoSession
	}
	if err != nil {
		return nil, err
	}
	if time.Now().After(row.ExpiresAt) {
		return nil, errors.Join(ErrNoSession, s.db.Delete(&row).Error)
	}
	if time.Since(row.SeenAt) > 5*time.Minute {
		// sliding expiry
		err = s.db.Model(&row).Updates(map[string]any{"seen_at": time.Now(), "expires_at": time.Now().Add(s.life)}).Error
	}
	return &row, err
}

// Sweep runs on every web node; deleting twice does no harm.
func (s *Sessions) Sweep() (int64, error) {
	res := s.db.Where("expires_at < ?", time.Now()).Delete(&Session{})
	return res.RowsAffected, res.Error
}
