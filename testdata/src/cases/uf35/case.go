package uf35

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"example.com/corpus/cases/uf35/rev"
)

type Dashboard struct {
	UID      string `gorm:"primaryKey"`
	Title    string
	Body     string
	Folder   string
	Revision rev.Revision
}

var ErrChanged = errors.New("dashboard was changed by someone else")

type Dashboards struct{ db *gorm.DB }

func affected(res *gorm.DB) error {
	if res.Error != nil {
		return res.Error
	}
	if res.RowsAffected == 0 {
		return ErrChanged
	}
	return nil
}

// Rename passes the model that was read: the type adds the predicate.
func (d *Dashboards) Rename(ctx context.Context, uid, title string) error {
	var cur Dashboard
	if err := d.db.WithContext(ctx).Where("uid = ?", uid).Take(&cur).Error; err != nil {
		return fmt.Errorf("load %s: %w", uid, err)
	}
	return affected(d.db.WithContext(ctx).Model(&cur).Updates(map[string]any{"title": title}))
}

// Move updates by key through a value without a revision: no predicate, and
// ErrChanged is never returned for an existing row.
func (d *Dashboards) Move(ctx context.Context, uid, folder string) error {
	res := d.db.WithContext(ctx).Where("uid = ?", uid).Updates(Dashboard{Folder: folder}) // want:W
	return affected(res)
}
