package yn05

import (
	"context"
	"errors"
	"net/http"
	"time"

	"gorm.io/gorm"
)

type Session struct {
	Token     string `gorm:"primaryKey"`
	UserID    uint
	Data      []byte
	ExpiresAt time.Time
}

var ErrNoSession = errors.New("no session")

// Store keeps the web sessions of signed-in users.
type Store struct{ db *gorm.DB }

func (s *Store) Find(ctx context.Context, token string) (*Session, error) {
	var v Session
	err := s.db.WithContext(ctx).Where("token = ?", token).First(&v).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, ErrNoSession
	}
	if err != nil {
		return nil, err
	}
	if time.Now().After(v.ExpiresAt) {
		return nil, ErrNoSession
	}
	return &v, nil
}

func (s *Store) Commit(ctx context.Context, v *Session, ttl time.Duration) error {
	v.ExpiresAt = time.Now().UTC().Add(ttl)
	return s.db.WithContext(ctx).Save(v).Error
}

func (s *Store) Sweep(ctx context.Context) error {
	return s.db.WithContext(ctx).Where("expires_at < ?", time.Now()).Delete(&Session{}).Error
}

// Touch extends the session on every request.
func (s *Store) Touch(ttl time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie("sid")
		if err != nil {
			http.Error(w, "sign in", http.StatusUnauthorized)
			return
		}
		v, err := s.Find(r.Context(), c.Value)
		if err != nil {
			http.Error(w, "sign in", http.StatusUnauthorized)
			return
		}
		if time.Until(v.ExpiresAt) < ttl/2 {
			if err := s.Commit(r.Context(), v, ttl); err != nil {
				http.Error(w, "session", http.StatusInternalServerError)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
