package ud10

import (
	"context"
	"fmt"
	"time"

	"github.com/go-redsync/redsync/v4"
	"gorm.io/gorm"
)

type Invoice struct {
	ID      uint
	Account string
	State   string
	Total   int64
	SentAt  *time.Time
}

type Line struct {
	ID        uint
	InvoiceID uint
	Cents     int64
}

// Biller closes the open invoices; the cron fires on every replica.
type Biller struct {
	rs *redsync.Redsync
	db *gorm.DB
}

func (b *Biller) CloseAccount(ctx context.Context, account string) error { // may:M
	mu := b.rs.NewMutex("billing:close:"+account, redsync.WithExpiry(10*time.Second), redsync.WithTries(1))
	if err := mu.LockContext(ctx); err != nil {
		return fmt.Errorf("close %s: %w", account, err)
	}
	defer func() { _, _ = mu.UnlockContext(context.WithoutCancel(ctx)) }()

	var inv Invoice
	if err := b.db.WithContext(ctx).Where("account = ? AND state = ?", account, "open").First(&inv).Error; err != nil {
		return err
	}
	var total int64
	err := b.db.WithContext(ctx).Model(&Line{}).Where("invoice_id = ?", inv.ID).
		Select("coalesce(sum(cents), 0)").Scan(&total).Error
	if err != nil {
		return err
	}
	set := map[string]any{"state": "closed", "total": total}
	return b.db.WithContext(ctx).Model(&Invoice{}).Where("id = ?", inv.ID).Updates(set).Error // want:C
}
