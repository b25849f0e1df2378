package uf09

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-redsync/redsync/v4"
	"gorm.io/gorm"
)

type Wallet struct {
	ID      uint64 `gorm:"primaryKey"`
	Holder  string
	Balance int64
}

func (Wallet) TableName() string { return "wallets" }

var ErrInsufficient = errors.New("insufficient balance")

type Locker struct{ rs *redsync.Redsync }

// Do runs fn while the named lock is held.
func (l *Locker) Do(ctx context.Context, name string, fn func(context.Context) error) (err error) {
	mu := l.rs.NewMutex("lock:"+name, redsync.WithExpiry(8*time.Second), redsync.WithTries(16))
	if err := mu.LockContext(ctx); err != nil { // may:M
		return fmt.Errorf("lock %s: %w", name, err)
	}
	defer func() {
		if _, uerr := mu.UnlockContext(context.WithoutCancel(ctx)); uerr != nil {
			err = errors.Join(err, uerr)
		}
	}()
	return fn(ctx)
}

type Service struct {
	db *gorm.DB
	lk *Locker
}

// Debit reads, decides and writes under the redis lock only.
func (s *Service) Debit(ctx context.Context, id uint64, cents int64) error {
	return s.lk.Do(ctx, fmt.Sprintf("wallet:%d", id), func(ctx context.Context) error { // may:C
		var w Wallet
		if err := s.db.WithContext(ctx).First(&w, id).Error; err != nil {
			return err
		}
		if w.Balance < cents {
			return ErrInsufficient
		}
		return s.db.WithContext(ctx).Model(&Wallet{}).Where("id = ?", id).Update("balance", w.Balance-cents).Error // want:C
	})
}
