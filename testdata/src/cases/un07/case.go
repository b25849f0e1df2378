// Package un07 edits documents with optimistic locking.
package un07

import (
	"context"
	"errors"

	"gorm.io/gorm"
)

var ErrChanged = errors.New("document was changed by somebody else")

type Draft struct {
	ID      uint
	Title   string
	Text    string
	State   string
	Version int64
}

type Drafts struct{ db *gorm.DB }

func (d *Drafts) update(ctx context.Context, cur *Draft, set map[string]any) error {
	set["version"] = cur.Version + 1
	res := d.db.WithContext(ctx).Model(&Draft{}).
		Where("id = ? AND version = ?", cur.ID, cur.Version).
		Updates(set)
	if res.Error != nil {
		return res.Error
	}
	if res.RowsAffected == 0 {
		return ErrChanged
	}
	cur.Version++
	return nil
}

// Edit applies fn to the newest version; it tries again when another editor
// was faster.
func (d *Drafts) Edit(ctx context.Context, id uint, fn func(*Draft) error) (*Draft, error) {
	for try := 0; ; try++ {
		var cur Draft
		if err := d.db.WithContext(ctx).First(&cur, id).Error; err != nil {
			return nil, err
		}
		if err := fn(&cur); err != nil {
			return nil, err
		}
		err := d.update(ctx, &cur, map[string]any{"title": cur.Title, "text": cur.Text})
		if errors.Is(err, ErrChanged) && try < 5 {
			continue
		}
		return &cur, err
	}
}

// Publish works on exactly the version that was reviewed.
func (d *Drafts) Publish(ctx context.Context, id uint, reviewed int64) error {
	var cur Draft
	if err := d.db.WithContext(ctx).First(&cur, id).Error; err != nil {
		return err
	}
	if cur.Version != reviewed {
		return ErrChanged
	}
	return d.update(ctx, &cur, map[string]any{"state": "published"})
}
