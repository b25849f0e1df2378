package uv13

import (
	"context"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"example.com/corpus/cases/uv13/model"
)

// Progress is what crawlers report for the site they lease.
type Progress struct{ db *gorm.DB }

// Flush stores the frontier of a site. Lease carries the fence, but the upsert
// takes whatever arrives last.
func (p *Progress) Flush(ctx context.Context, l model.Lease, frontier []byte) error {
	row := model.Frontier{Site: l.Site, Body: frontier, Pages: l.Pages}
	err := p.db.WithContext(ctx).Clauses(clause.OnConflict{ // want:W
		Columns:   []clause.Column{{Name: "site"}},
		DoUpdates: clause.AssignmentColumns([]string{"body", "pages"}),
	}).Create(&row).Error
	if err != nil {
		return fmt.Errorf("flush %s: %w", l.Site, err)
	}
	return nil
}

// Pause is called by a crawler that shuts down before the site is done.
func (p *Progress) Pause(ctx context.Context, l model.Lease, why string) error {
	return p.db.WithContext(ctx). // want:W
					Table("frontiers").
					Where("site = ?", l.Site).
					Update("paused_reason", why).Error
}

// Advance is how it should be done.
func (p *Progress) Advance(ctx context.Context, l model.Lease, pages int64) (bool, error) {
	res := p.db.WithContext(ctx).Model(&model.Frontier{}).
		Where("site = ? AND fence <= ?", l.Site, l.Fence).
		Updates(map[string]any{"pages": pages, "fence": l.Fence})
	return res.RowsAffected == 1, res.Error
}
