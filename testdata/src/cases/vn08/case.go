package vn08

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"
)

// Cart rows are changed by several tabs and by the mobile app; the version
// makes the second writer start over.
type Cart struct {
	ID      uint64 `gorm:"primaryKey"`
	OwnerID uint64
	Items   int
	Total   int64
	Version int64
}

var (
	ErrConflict  = errors.New("cart was changed meanwhile")
	ErrForbidden = errors.New("cart belongs to someone else")
)

type Carts struct{ db *gorm.DB }

func (c *Carts) Add(ctx context.Context, account, cart uint64, cents int64) error {
	for range 3 {
		err := c.add(ctx, account, cart, cents)
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("cart %d: %w", cart, ErrConflict)
}

func (c *Carts) add(ctx context.Context, account, id uint64, cents int64) error {
	var cart Cart
	if err := c.db.WithContext(ctx).First(&cart, id).Error; err != nil {
		return err
	}
	if cart.OwnerID != account {
		return ErrForbidden
	}
	res := c.db.WithContext(ctx).Model(&Cart{}).
		Where("id = ? AND version = ?", cart.ID, cart.Version).
		Updates(map[string]any{
			"items":   cart.Items + 1,
			"total":   cart.Total + cents,
			"version": cart.Version + 1,
		})
	if res.Error != nil {
		return res.Error
	}
	if res.RowsAffected == 0 {
		return ErrConflict
	}
	return nil
}

// Empty is the owner's own wish; what is in the cart does not matter.
func (c *Carts) Empty(ctx context.Context, account, id uint64) error {
	var cart Cart
	if err := c.db.WithContext(ctx).First(&cart, id).Error; err != nil {
		return err
	}
	if cart.OwnerID != account {
		return ErrForbidden
	}
	return c.db.WithContext(ctx).Delete(&cart).Error
}
