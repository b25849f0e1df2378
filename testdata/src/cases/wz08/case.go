package wz08

import (
	"context"
	"errors"

	"gorm.io/gorm"
)

var ErrStale = errors.New("feed has a newer recorder")

type CameraFeed struct {
	ID     int64 `gorm:"primaryKey"`
	Site   string
	Codec  string
	Frames int64
	Fence  int64
}

func (CameraFeed) TableName() string { return "camera_feeds" }

type store struct{ db *gorm.DB }

func (s store) feed(ctx context.Context, id int64) *gorm.DB {
	return s.db.WithContext(ctx).Model(&CameraFeed{}).Where("id = ?", id)
}

func (s store) mine(ctx context.Context, id, token int64) *gorm.DB {
	return s.feed(ctx, id).Where("fence <= ?", token)
}

// Recorder owns one feed at a time.
type Recorder struct {
	store
	feedID int64
	token  int64
}

func (r *Recorder) Count(ctx context.Context, frames int64) error {
	res := r.mine(ctx, r.feedID, r.token).Updates(map[string]any{
		"frames": gorm.Expr("frames + ?", frames),
		"fence":  r.token,
	})
	return check(res)
}

// Renegotiate goes through the short form of the query by mistake.
func (r *Recorder) Renegotiate(ctx context.Context, codec string) error {
	res := r.feed(ctx, r.feedID).Update("codec", codec) // want:W
	return check(res)
}

func (r *Recorder) Remove(ctx context.Context) error {
	return check(r.mine(ctx, r.feedID, r.token).Delete(&CameraFeed{}))
}

// RemoveSite is the same for all feeds of a building that was shut down.
func (r *Recorder) RemoveSite(ctx context.Context, site string) error {
	return r.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		var n int64
		if err := tx.Model(&CameraFeed{}).Where("site = ?", site).Count(&n).Error; err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
		return check(tx.Delete(&CameraFeed{}, "site = ?", site)) // want:W
	})
}

func check(res *gorm.DB) error {
	if res.Error != nil {
		return res.Error
	}
	if res.RowsAffected == 0 {
		return ErrStale
	}
	return nil
}
