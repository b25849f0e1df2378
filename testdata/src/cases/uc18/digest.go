package uc18

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"
)

type Digest struct {
	ID     uint
	UserID uint
	Body   string
	State  string
}

// Cron runs named jobs, each on one host at a time.
type Cron struct {
	rdb  *redis.Client
	db   *gorm.DB
	host string
}

func New(rdb *redis.Client, db *gorm.DB) *Cron {
	h, _ := os.Hostname()
	return &Cron{rdb: rdb, db: db, host: h}
}

func (c *Cron) digests(ctx context.Context, render func(uint) (string, error)) error {
	const key = "cron:digests:lock"
	if ok, err := c.rdb.SetNX(ctx, key, c.host, 5*time.Minute).Result(); err != nil || !ok { // may:M
		return err
	}
	defer c.rdb.Del(context.WithoutCancel(ctx), key) // want:C

	var todo []Digest
	if err := c.db.WithContext(ctx).Where("state = ?", "due").Find(&todo).Error; err != nil {
		return err
	}
	for _, d := range todo {
		body, err := render(d.UserID)
		if err != nil {
			log.Printf("digest %d: %v", d.ID, err)
			continue
		}
		d.Body, d.State = body, "rendered"
		if err := c.db.WithContext(ctx).Save(&d).Error; err != nil { // want:C
			return err
		}
	}
	return nil
}

// Schedule starts the loop; the first run is at once.
func (c *Cron) Schedule(ctx context.Context, every time.Duration, render func(uint) (string, error)) {
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if err := c.digests(ctx, render); err != nil {
				log.Print(err)
			}
			t.Reset(every)
		}
	}
}
