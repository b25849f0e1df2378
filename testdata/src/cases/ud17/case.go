package ud17

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"
)

type Instance struct {
	ID          string `gorm:"primaryKey"`
	Worker      *string
	LockedUntil *time.Time
	State       int
}

var ErrNoInstance = errors.New("no instance to work on")

type Options struct {
	Worker      string
	LockTimeout time.Duration
}

// Backend hands workflow instances to workers.
type Backend struct {
	db   *gorm.DB
	opts Options
}

func free(db *gorm.DB, now time.Time) *gorm.DB {
	return db.Where("state = ?", 0).
		Where("locked_until IS NULL OR locked_until < ?", now) // may:T
}

// GetInstance locks one instance whose last worker is gone.
func (b *Backend) GetInstance(ctx context.Context) (*Instance, error) { // may:M
	var out Instance
	err := b.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		now := time.Now()
		if err := free(tx, now).Order("id").First(&out).Error; err != nil { // may:T
			return err
		}
		until := now.Add(b.opts.LockTimeout)
		res := tx.Model(&Instance{}).
			Where("id = ?", out.ID).
			Where("locked_until IS NULL OR locked_until < ?", now). // want:T
			Updates(map[string]any{"worker": b.opts.Worker, "locked_until": until})
		if res.Error != nil {
			return res.Error
		}
		if res.RowsAffected == 0 {
			return ErrNoInstance
		}
		out.Worker, out.LockedUntil = &b.opts.Worker, &until
		return nil
	})
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, ErrNoInstance
	}
	return &out, err
}
