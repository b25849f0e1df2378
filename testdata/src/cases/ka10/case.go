// Package ka10 settles wallets at night under a redsync mutex.
package ka10

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-redsync/redsync/v4"
	"gorm.io/gorm"
)

type Wallet struct {
	ID        string `gorm:"primaryKey"`
	Balance   int64
	Pending   int64
	SettledOn time.Time
}

type Settler struct {
	rs *redsync.Redsync
	db *gorm.DB
}

func (s *Settler) withMutex(ctx context.Context, name string, fn func(context.Context) error) error { // may:M
	m := s.rs.NewMutex(name, redsync.WithExpiry(time.Minute), redsync.WithTries(1))
	if err := m.LockContext(ctx); err != nil {
		return fmt.Errorf("lock %s: %w", name, err)
	}
	defer func() {
		if ok, err := m.UnlockContext(ctx); !ok || err != nil {
			slog.Warn("unlock", "name", name, "err", err)
		}
	}()
	return fn(ctx) // may:C
}

// SettleAll is started by cron on every replica.
func (s *Settler) SettleAll(ctx context.Context, day time.Time) error {
	return s.withMutex(ctx, "wallets:settle", func(ctx context.Context) error {
		var ws []Wallet
		if err := s.db.WithContext(ctx).Where("pending <> 0").Find(&ws).Error; err != nil {
			return err
		}
		for _, w := range ws {
			err := s.db.WithContext(ctx).Model(&Wallet{}). // want:C|W
									Where("id = ?", w.ID).
									Updates(map[string]any{"balance": w.Balance + w.Pending, "pending": 0, "settled_on": day}).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
}
