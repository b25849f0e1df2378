package ub07

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"
)

var ErrSuperseded = errors.New("a newer attempt owns this build")

// Build rows are handed to runners; every hand-over increments the attempt.
type Build struct {
	ID      uint64 `gorm:"primaryKey"`
	Attempt int64
	Phase   string
	LogURL  string
}

type runnerStore struct{ db *gorm.DB }

// Run is one hand-over as the runner remembers it.
type Run struct {
	BuildID uint64
	Attempt int64
	st      *runnerStore
}

func (s *runnerStore) load(ctx context.Context, id uint64) (*Build, error) {
	var b Build
	if err := s.db.WithContext(ctx).First(&b, id).Error; err != nil {
		return nil, fmt.Errorf("build %d: %w", id, err)
	}
	return &b, nil
}

func (r *Run) SetLogURL(ctx context.Context, url string) error {
	b, err := r.st.load(ctx, r.BuildID)
	if err != nil {
		return err
	}
	if b.Attempt != r.Attempt {
		return ErrSuperseded
	}
	return r.st.db.WithContext(ctx).Model(&Build{}). // want:C
								Where("id = ?", r.BuildID).
								Update("log_url", url).Error
}

// Watch is read only: nothing can go wrong with a stale answer here.
func (r *Run) Watch(ctx context.Context) (string, error) {
	b, err := r.st.load(ctx, r.BuildID)
	if err != nil {
		return "", err
	}
	if b.Attempt != r.Attempt {
		return "superseded", nil
	}
	return b.Phase, nil
}
