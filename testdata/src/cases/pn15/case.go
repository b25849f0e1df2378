package pn15

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"gorm.io/gorm"
)

type Crawl struct {
	ID      uint
	URL     string
	State   string
	ClaimID string
	Pages   int
}

var (
	ErrClaimGone = errors.New("crawl was claimed again")
	ErrNoCrawl   = errors.New("no crawl is waiting")
)

type Crawler struct {
	db *gorm.DB
}

// claim gives the crawl an id that is new for every claim.
func (c *Crawler) claim(ctx context.Context) (*Crawl, error) {
	var w Crawl
	if err := c.db.WithContext(ctx).Where("state = ?", "waiting").Order("id").First(&w).Error; err != nil {
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return nil, ErrNoCrawl
		}
		return nil, err
	}
	w.ClaimID = uuid.NewString()
	res := c.db.WithContext(ctx).Model(&Crawl{}).
		Where("id = ? AND state = ?", w.ID, "waiting").
		Updates(map[string]any{"state": "running", "claim_id": w.ClaimID})
	if res.Error != nil {
		return nil, res.Error
	}
	if res.RowsAffected == 0 {
		return nil, ErrNoCrawl
	}
	return &w, nil
}

// finish looks at the claim for a better message and repeats the comparison in
// the update.
func (c *Crawler) finish(ctx context.Context, w *Crawl, pages int) error {
	var cur Crawl
	if err := c.db.WithContext(ctx).First(&cur, w.ID).Error; err != nil {
		return err
	}
	if cur.ClaimID != w.ClaimID {
		return fmt.Errorf("crawl %d is with claim %s: %w", w.ID, cur.ClaimID, ErrClaimGone)
	}
	res := c.db.WithContext(ctx).Model(&Crawl{}).
		Where("id = ? AND claim_id = ?", w.ID, w.ClaimID).
		Updates(map[string]any{"state": "done", "pages": pages})
	if res.Error != nil {
		return res.Error
	}
	if res.RowsAffected != 1 {
		return ErrClaimGone
	}
	return nil
}

func (c *Crawler) Next(ctx context.Context, visit func(context.Context, string) (int, error)) error {
	w, err := c.claim(ctx)
	if err != nil {
		return err
	}
	n, err := visit(ctx, w.URL)
	if err != nil {
		return fmt.Errorf("visit %s: %w", w.URL, err)
	}
	return c.finish(ctx, w, n)
}
