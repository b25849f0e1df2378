package uc04

import (
	"context"
	"strconv"
	"time"

	"github.com/go-redsync/redsync/v4"
	"gorm.io/gorm"
)

type Warehouse struct {
	ID        uint
	Code      string
	Snapshot  string
	CountedAt time.Time
}

type Count struct {
	SKU string
	Qty int
}

type Inventory struct {
	db *gorm.DB
	rs *redsync.Redsync
	// scan asks the handheld gateways; takes minutes for large sites.
	scan func(ctx context.Context, code string) ([]Count, error)
}

func (i *Inventory) Recount(ctx context.Context, w *Warehouse) (int, error) {
	return Exclusive(ctx, i.rs, "recount/"+w.Code, func(ctx context.Context) (int, error) { // may:C
		counts, err := i.scan(ctx, w.Code)
		if err != nil {
			return 0, err
		}
		total := 0
		for _, c := range counts {
			total += c.Qty
		}
		err = i.db.WithContext(ctx).Model(&Warehouse{}).Where("id = ?", w.ID). // want:C
											Updates(map[string]any{"snapshot": strconv.Itoa(total), "counted_at": gorm.Expr("now()")}).Error
		return total, err
	})
}
