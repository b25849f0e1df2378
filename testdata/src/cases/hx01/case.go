// Package hx01 closes billing periods. Every replica runs the ticker; a
// redis mutex picks the one that does the work.
package hx01

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-redsync/redsync/v4"
	"gorm.io/gorm"
)

type Period struct {
	ID       uint
	Account  string
	Month    string
	Total    int64
	ClosedAt *time.Time
}

type Usage struct {
	ID      uint
	Account string
	Month   string
	Amount  int64
	Billed  bool
}

type Closer struct {
	db  *gorm.DB
	rs  *redsync.Redsync
	log *slog.Logger
}

// withLock runs fn on at most one replica.
func (c *Closer) withLock(ctx context.Context, name string, fn func(context.Context) error) error { // may:M
	mu := c.rs.NewMutex("billing:"+name, redsync.WithExpiry(2*time.Minute), redsync.WithTries(1))
	if err := mu.LockContext(ctx); err != nil {
		var taken *redsync.ErrTaken
		if errors.As(err, &taken) {
			return nil
		}
		return fmt.Errorf("lock %s: %w", name, err)
	}
	defer func() {
		if _, err := mu.UnlockContext(context.WithoutCancel(ctx)); err != nil {
			c.log.Warn("unlock failed", "lock", name, "err", err)
		}
	}()
	return fn(ctx) // may:C
}

func (c *Closer) Run(ctx context.Context) {
	t := time.NewTicker(time.Hour)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			month := time.Now().AddDate(0, -1, 0).Format("2006-01")
			err := c.withLock(ctx, "close", func(ctx context.Context) error {
				return c.closeMonth(ctx, month) // may:C
			})
			if err != nil {
				c.log.Error("closing failed", "month", month, "err", err)
			}
		}
	}
}

func (c *Closer) closeMonth(ctx context.Context, month string) error {
	var open []Period
	if err := c.db.WithContext(ctx).Where("month = ? AND closed_at IS NULL", month).Find(&open).Error; err != nil {
		return err
	}
	for _, p := range open {
		var total int64
		err := c.db.WithContext(ctx).Model(&Usage{}).
			Where("account = ? AND month = ?", p.Account, month).
			Select("coalesce(sum(amount), 0)").Scan(&total).Error
		if err != nil {
			return err
		}
		now := time.Now()
		err = c.db.WithContext(ctx).Model(&Period{}).Where("id = ?", p.ID). // want:C
											Updates(map[string]any{"total": total, "closed_at": now}).Error
		if err != nil {
			return err
		}
	}
	return nil
}
