// Package ka08 is the result side of a render farm: workers claim frames.
package ka08

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"
)

var ErrReassigned = errors.New("frame was reassigned")

type Frame struct {
	ID        uint64 `gorm:"primaryKey"`
	State     string
	WorkerID  string
	Epoch     int64
	ImageKey  string
	Progress  int
	ClaimedAt *time.Time
}

type FrameStore struct{ db *gorm.DB }

// Claim hands a frame out; every claim raises the epoch.
func (s *FrameStore) Claim(ctx context.Context, id uint64, worker string) (int64, error) {
	var f Frame
	err := s.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		res := tx.Model(&Frame{}).
			Where("id = ? AND state IN ?", id, []string{"queued", "orphaned"}).
			Updates(map[string]any{"state": "rendering", "worker_id": worker, "epoch": gorm.Expr("epoch + 1"), "claimed_at": gorm.Expr("now()")})
		if res.Error != nil {
			return res.Error
		}
		if res.RowsAffected == 0 {
			return ErrReassigned
		}
		return tx.First(&f, id).Error
	})
	return f.Epoch, err
}

// Finish compares the epoch of the caller with the stored one, then stores the
// image.
func (s *FrameStore) Finish(ctx context.Context, id uint64, epoch int64, key string) error {
	return s.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		var f Frame
		if err := tx.First(&f, "id = ?", id).Error; err != nil {
			return err
		}
		if f.Epoch != epoch {
			return ErrReassigned
		}
		return tx.Model(&Frame{}).Where("id = ?", id). // want:C|W|L
								Updates(map[string]any{"state": "done", "image_key": key}).Error
	})
}

// Report stores progress of the current worker.
func (s *FrameStore) Report(ctx context.Context, id uint64, epoch int64, pct int) error {
	var f Frame
	if err := s.db.WithContext(ctx).Select("epoch").Take(&f, id).Error; err != nil {
		return err
	}
	if epoch < f.Epoch {
		return ErrReassigned
	}
	return s.db.WithContext(ctx).Model(&Frame{ID: id}).Update("progress", pct).Error // want:C|W|L
}
