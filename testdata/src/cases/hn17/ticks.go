package hn17

import (
	"context"
	"time"

	"github.com/hashicorp/consul/api"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

type DigestMail struct {
	UserID uint      `gorm:"primaryKey"`
	Day    time.Time `gorm:"primaryKey;type:date"`
}

// EnqueueDaily may run on two nodes: the primary key decides.
func EnqueueDaily(ctx context.Context, c *api.Client, db *gorm.DB, users []uint) error {
	l, err := c.LockKey("digest/lock")
	if err != nil {
		return err
	}
	if ch, err := l.Lock(ctx.Done()); err != nil || ch == nil {
		return err
	}
	defer l.Unlock()
	day := time.Now().UTC().Truncate(24 * time.Hour)
	rows := make([]DigestMail, 0, len(users))
	for _, u := range users {
		rows = append(rows, DigestMail{UserID: u, Day: day})
	}
	return db.WithContext(ctx).Clauses(clause.OnConflict{DoNothing: true}).CreateInBatches(rows, 500).Error
}
