package hn08

import (
	"context"

	"gorm.io/gorm"
)

type Quota struct {
	Tenant string `gorm:"primaryKey"`
	Used   int64
}

type Meter struct{ db *gorm.DB }

// Recount takes a transaction-scoped advisory lock; check and write share the
// transaction.
func (m *Meter) Recount(ctx context.Context, tenant string) error {
	return m.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		var free bool
		if err := tx.Raw("SELECT pg_try_advisory_xact_lock(hashtext(?))", tenant).Scan(&free).Error; err != nil {
			return err
		}
		if !free {
			return nil
		}
		var n int64
		if err := tx.Table("objects").Where("tenant = ?", tenant).Count(&n).Error; err != nil {
			return err
		}
		return tx.Save(&Quota{Tenant: tenant, Used: n}).Error
	})
}
