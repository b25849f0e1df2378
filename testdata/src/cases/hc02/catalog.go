package hc02

import (
	"context"
	"fmt"

	"github.com/go-redsync/redsync/v4"
	"gorm.io/gorm"
)

type Product struct {
	ID    uint
	SKU   string
	Stock int
}

type Catalog struct {
	rs *redsync.Redsync
	db *gorm.DB
}

func (c *Catalog) exclusively(ctx context.Context, name string, fn func(context.Context) error) error {
	m := c.rs.NewMutex("catalog/" + name)
	if err := m.LockContext(ctx); err != nil {
		return fmt.Errorf("lock %s: %w", name, err)
	}
	defer func() { _, _ = m.UnlockContext(ctx) }()
	return fn(ctx)
}

// Reserve reads and stores the whole row; the mutex expires after 8 seconds.
func (c *Catalog) Reserve(ctx context.Context, sku string, qty int) error {
	return c.exclusively(ctx, sku, func(ctx context.Context) error {
		var p Product
		if err := c.db.WithContext(ctx).Where("sku = ?", sku).First(&p).Error; err != nil {
			return err
		}
		if p.Stock < qty {
			return fmt.Errorf("only %d left", p.Stock)
		}
		p.Stock -= qty
		return c.db.WithContext(ctx).Save(&p).Error // want:C
	})
}
