package ht13

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

type Delivery struct {
	ID         uint64
	LockedBy   string
	LockExpiry *time.Time
	SentAt     *time.Time
}

func (d *Delivery) available(at time.Time) bool {
	return d.LockExpiry == nil || d.LockExpiry.Before(at) // want:T
}

type Dispatcher struct {
	db   *gorm.DB
	name string
}

func (p *Dispatcher) grab(ctx context.Context, id uint64) (got bool, err error) {
	err = p.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		var d Delivery
		if err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).First(&d, id).Error; err != nil {
			return err
		}
		now := time.Now()
		if d.SentAt != nil || !d.available(now) { // may:T
			return nil
		}
		end := now.Add(2 * time.Minute)
		d.LockedBy, d.LockExpiry = p.name, &end
		got = true
		return tx.Save(&d).Error
	})
	return got, err
}
