package ht15

import (
	"context"
	"time"

	"gorm.io/gorm"
)

type Sync struct {
	ID          uint
	ClaimedBy   string
	ClaimedTill time.Time
	Done        bool
}

type Pool struct {
	db *gorm.DB
	me string
}

func claimable(now time.Time) func(*gorm.DB) *gorm.DB {
	return func(q *gorm.DB) *gorm.DB {
		return q.Where("done = ? AND (claimed_by = '' OR claimed_till < ?)", false, now) // want:T
	}
}

func (p *Pool) Claim(ctx context.Context) (int64, error) {
	now := time.Now()
	res := p.db.WithContext(ctx).Model(&Sync{}).Scopes(claimable(now)).Limit(10). // may:T
											Updates(map[string]any{"claimed_by": p.me, "claimed_till": now.Add(time.Minute)})
	return res.RowsAffected, res.Error
}
