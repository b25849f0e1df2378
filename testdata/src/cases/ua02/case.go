// Package ua02 closes billing periods.
package ua02

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-redsync/redsync/v4"
	"gorm.io/gorm"
)

type Subscription struct {
	ID        uint
	Account   string
	PlanCents int64
	PeriodEnd time.Time
	Balance   int64
}

type Usage struct {
	ID             uint
	SubscriptionID uint
	Cents          int64
	At             time.Time
}

type Biller struct {
	db  *gorm.DB
	rs  *redsync.Redsync
	log *slog.Logger
}

func New(db *gorm.DB, rs *redsync.Redsync) *Biller {
	return &Biller{db: db, rs: rs, log: slog.Default()}
}

// RunMonth is started by every replica on the first of the month.
func (b *Biller) RunMonth(ctx context.Context, end time.Time) error {
	mu := b.rs.NewMutex("billing:"+end.Format("2006-01"), redsync.WithExpiry(2*time.Minute), redsync.WithTries(1))
	if err := mu.LockContext(ctx); err != nil {
		var taken *redsync.ErrTaken
		if errors.As(err, &taken) {
			b.log.Info("another replica runs this month")
			return nil
		}
		return fmt.Errorf("billing: %w", err)
	}
	defer func() {
		if _, err := mu.UnlockContext(context.WithoutCancel(ctx)); err != nil {
			b.log.Warn("unlock", "err", err)
		}
	}()

	var subs []Subscription
	if err := b.db.WithContext(ctx).Where("period_end <= ?", end).Order("id").Find(&subs).Error; err != nil {
		return err
	}
	var failed int
	for i := range subs {
		if err := b.closePeriod(ctx, &subs[i], end); err != nil {
			b.log.Error("close period", "subscription", subs[i].ID, "err", err)
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d subscriptions failed", failed, len(subs))
	}
	return nil
}

func (b *Biller) closePeriod(ctx context.Context, s *Subscription, end time.Time) error {
	var used int64
	err := b.db.WithContext(ctx).Model(&Usage{}).
		Where("subscription_id = ? AND at < ?", s.ID, end).
		Select("coalesce(sum(cents), 0)").Scan(&used).Error
	if err != nil {
		return err
	}
	due := s.PlanCents + used - s.Balance
	next := end.AddDate(0, 1, 0)
	return b.db.WithContext(ctx).Model(&Subscription{}).Where("id = ?", s.ID). // want:C
											Updates(map[string]any{"period_end": next, "balance": -due}).Error
}
