package qn03

import (
	"context"
	"errors"

	"gorm.io/gorm"
)

// Invoice is edited by back-office jobs; Version counts its updates.
type Invoice struct {
	ID      uint `gorm:"primaryKey"`
	State   string
	Total   int64
	Memo    string
	Version int64
}

var ErrConflict = errors.New("invoice was changed")

// current restricts a statement to the version that was read.
func current(inv *Invoice) func(*gorm.DB) *gorm.DB {
	return func(db *gorm.DB) *gorm.DB {
		return db.Where("id = ? AND version = ?", inv.ID, inv.Version)
	}
}

type Invoices struct{ db *gorm.DB }

func (r *Invoices) Load(ctx context.Context, id uint) (*Invoice, error) {
	var inv Invoice
	err := r.db.WithContext(ctx).First(&inv, id).Error
	return &inv, err
}

func (r *Invoices) Book(ctx context.Context, inv *Invoice, total int64) error {
	res := r.db.WithContext(ctx).Model(&Invoice{}).
		Where("id = ?", inv.ID).
		Where("version = ?", inv.Version).
		Updates(map[string]any{"state": "booked", "total": total, "version": inv.Version + 1})
	return one(res)
}

func (r *Invoices) Void(ctx context.Context, inv *Invoice, memo string) error {
	return one(r.db.WithContext(ctx).Model(&Invoice{}).Scopes(current(inv)).
		Updates(map[string]any{"state": "void", "memo": memo, "version": gorm.Expr("version + 1")}))
}

func (r *Invoices) Delete(ctx context.Context, inv *Invoice) error {
	return one(r.db.WithContext(ctx).Where("id = ? AND version = ?", inv.ID, inv.Version).Delete(&Invoice{}))
}

func one(res *gorm.DB) error {
	switch {
	case res.Error != nil:
		return res.Error
	case res.RowsAffected != 1:
		return ErrConflict
	}
	return nil
}
