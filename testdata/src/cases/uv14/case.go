package uv14

import (
	"context"
	"errors"

	"gorm.io/gorm"

	"example.com/corpus/cases/uv14/revision"
)

var ErrChanged = errors.New("document was changed by another editor")

// Document carries a revision that guards its own updates, see package revision.
type Document struct {
	ID       string `gorm:"primaryKey"`
	Title    string
	Body     string
	Archived bool
	Rev      revision.Number
}

type Documents struct{ db *gorm.DB }

func (d *Documents) Get(ctx context.Context, id string) (*Document, error) {
	var doc Document
	if err := d.db.WithContext(ctx).First(&doc, "id = ?", id).Error; err != nil {
		return nil, err
	}
	return &doc, nil
}

// Rewrite passes the document that was read: the revision is compared.
func (d *Documents) Rewrite(ctx context.Context, doc *Document, body string) error {
	return changed(d.db.WithContext(ctx).Model(doc).Update("body", body))
}

// Rename knows the id only. A Document made here has no revision, so no
// condition is added and the row count can never tell a conflict.
func (d *Documents) Rename(ctx context.Context, id, title string) error {
	res := d.db.WithContext(ctx).Model(&Document{ID: id}).Updates(Document{Title: title}) // want:W
	return changed(res)
}

func changed(res *gorm.DB) error {
	if res.Error != nil {
		return res.Error
	}
	if res.RowsAffected == 0 {
		return ErrChanged
	}
	return nil
}
