package hn55

import (
	"context"
	"encoding/json"
	"time"

	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"
)

type Rate struct {
	Pair    string `gorm:"primaryKey"`
	Value   float64
	Expires time.Time
}

type Rates struct {
	rdb  *redis.Client
	db   *gorm.DB
	load func(context.Context, string) (float64, error)
}

// Get reads through a cache; an entry older than its time is loaded again.
func (r *Rates) Get(ctx context.Context, pair string) (float64, error) {
	var v Rate
	raw, err := r.rdb.Get(ctx, "rate:"+pair).Bytes()
	if err == nil && json.Unmarshal(raw, &v) == nil && time.Now().Before(v.Expires) {
		return v.Value, nil
	}
	f, err := r.load(ctx, pair)
	if err != nil {
		return 0, err
	}
	v = Rate{Pair: pair, Value: f, Expires: time.Now().Add(time.Hour)}
	if raw, err = json.Marshal(v); err != nil {
		return 0, err
	}
	if err := r.rdb.Set(ctx, "rate:"+pair, raw, time.Hour).Err(); err != nil {
		return 0, err
	}
	// At most one notification an hour.
	if ok, _ := r.rdb.SetNX(ctx, "notified:"+pair, time.Now().Unix(), time.Hour).Result(); ok {
		if err := r.db.Model(&Rate{}).Where("pair = ?", pair).Update("expires", v.Expires).Error; err != nil {
			return 0, err
		}
	}
	return f, r.db.WithContext(ctx).Save(&v).Error
}
