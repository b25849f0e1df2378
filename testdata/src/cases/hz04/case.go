package hz04

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

type Counter struct {
	Name  string `gorm:"primaryKey"`
	Value int64
}

type Invoice struct {
	ID     uint
	Number string
	State  string
}

var errBusy = errors.New("numbering is busy")

// Numberer gives out gapless invoice numbers.
type Numberer struct{ db *gorm.DB }

// exclusive runs fn in a transaction that has the advisory lock to its end.
func (n *Numberer) exclusive(ctx context.Context, key int64, fn func(tx *gorm.DB) error) error {
	return n.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		var ok bool
		if err := tx.Raw("SELECT pg_try_advisory_xact_lock(?)", key).Scan(&ok).Error; err != nil {
			return err
		}
		if !ok {
			return errBusy
		}
		return fn(tx)
	})
}

func (n *Numberer) Assign(ctx context.Context, ids []uint) error {
	return n.exclusive(ctx, 4711, func(tx *gorm.DB) error {
		var c Counter
		if err := tx.First(&c, "name = ?", "invoice").Error; err != nil {
			return err
		}
		for _, id := range ids {
			c.Value++
			err := tx.Model(&Invoice{}).Where("id = ?", id).
				Updates(map[string]any{"number": fmt.Sprintf("R%08d", c.Value), "state": "issued"}).Error
			if err != nil {
				return err
			}
		}
		return tx.Save(&c).Error
	})
}

// Cancel locks the row itself.
func (n *Numberer) Cancel(ctx context.Context, id uint) error {
	return n.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		var inv Invoice
		err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).First(&inv, id).Error
		if err != nil {
			return err
		}
		if inv.State == "paid" {
			return errors.New("invoice is paid")
		}
		inv.State = "cancelled"
		return tx.Save(&inv).Error
	})
}
