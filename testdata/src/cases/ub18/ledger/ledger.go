// Package ledger is the only one that touches the subscription tables.
package ledger

import (
	"context"
	"time"

	"gorm.io/gorm"
)

type Subscription struct {
	ID         uint64 `gorm:"primaryKey"`
	Plan       string
	BilledTo   time.Time
	BalanceDue int64
}

type Ledger interface {
	Due(ctx context.Context, before time.Time) ([]Subscription, error)
	Charge(ctx context.Context, id uint64, cents int64, to time.Time) error
}

type gormLedger struct{ db *gorm.DB }

func Open(db *gorm.DB) Ledger { return &gormLedger{db} }

func (g *gormLedger) Due(ctx context.Context, before time.Time) (subs []Subscription, err error) {
	err = g.db.WithContext(ctx).Where("billed_to < ?", before).Find(&subs).Error
	return subs, err
}

func (g *gormLedger) Charge(ctx context.Context, id uint64, cents int64, to time.Time) error {
	return g.db.WithContext(ctx).Model(&Subscription{}).Where("id = ?", id).
		Updates(map[string]any{"billed_to": to, "balance_due": gorm.Expr("balance_due + ?", cents)}).Error
}
