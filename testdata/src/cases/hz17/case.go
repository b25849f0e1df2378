// Package hz17 stores wiki pages with optimistic locking.
package hz17

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"gorm.io/gorm"
)

type Page struct {
	ID        uint   `gorm:"primaryKey"`
	Slug      string `gorm:"uniqueIndex"`
	Body      string
	Version   int64
	OwnerID   uint
	UpdatedAt time.Time
}

var errConflict = errors.New("page was changed by somebody else")

type Pages struct{ db *gorm.DB }

func (p *Pages) save(ctx context.Context, pg *Page, body string) error {
	res := p.db.WithContext(ctx).Model(&Page{}).
		Where("id = ? AND version = ?", pg.ID, pg.Version).
		Updates(map[string]any{"body": body, "version": pg.Version + 1})
	if res.Error != nil {
		return res.Error
	}
	if res.RowsAffected == 0 {
		return errConflict
	}
	return nil
}

type editRequest struct {
	Body    string `json:"body"`
	Version int64  `json:"version"`
}

func (p *Pages) put(userID func(*http.Request) uint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in editRequest
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var pg Page
		if err := p.db.WithContext(r.Context()).First(&pg, "slug = ?", r.PathValue("slug")).Error; err != nil {
			http.NotFound(w, r)
			return
		}
		if pg.OwnerID != userID(r) {
			http.Error(w, "forbidden", http.StatusForbidden)
			return
		}
		if in.Version != pg.Version {
			http.Error(w, errConflict.Error(), http.StatusConflict)
			return
		}
		switch err := p.save(r.Context(), &pg, in.Body); {
		case errors.Is(err, errConflict):
			http.Error(w, err.Error(), http.StatusConflict)
		case err != nil:
			http.Error(w, "internal error", http.StatusInternalServerError)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}
}

func (p *Pages) remove(userID func(*http.Request) uint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var pg Page
		if err := p.db.WithContext(r.Context()).First(&pg, "slug = ?", r.PathValue("slug")).Error; err != nil {
			http.NotFound(w, r)
			return
		}
		if pg.OwnerID != userID(r) {
			http.Error(w, "forbidden", http.StatusForbidden)
			return
		}
		if err := p.db.WithContext(r.Context()).Delete(&pg).Error; err != nil {
			http.Error(w, "internal error", http.StatusInternalServerError)
		}
	}
}
