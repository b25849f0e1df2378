package mn17

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/go-redsync/redsync/v4"
	"gorm.io/gorm"
)

// An ordinary web application. It has a distributed lock for its nightly
// report; the comparisons with an owner below are about permissions.

type Document struct {
	ID      uint64 `gorm:"primaryKey"`
	OwnerID uint64
	Title   string
	Locked  bool // read-only for everybody but the owner
}

func (Document) TableName() string { return "wiki_documents" }

type userKey struct{}

func userID(ctx context.Context) uint64 {
	id, _ := ctx.Value(userKey{}).(uint64)
	return id
}

type App struct {
	db *gorm.DB
	rs *redsync.Redsync
}

func (a *App) find(r *http.Request) (*Document, int) {
	var d Document
	err := a.db.WithContext(r.Context()).First(&d, "id = ?", r.PathValue("id")).Error
	switch {
	case errors.Is(err, gorm.ErrRecordNotFound):
		return nil, http.StatusNotFound
	case err != nil:
		return nil, http.StatusInternalServerError
	}
	return &d, 0
}

func (a *App) Rename(w http.ResponseWriter, r *http.Request) {
	d, code := a.find(r)
	if d == nil {
		w.WriteHeader(code)
		return
	}
	if d.Locked && d.OwnerID != userID(r.Context()) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	err := a.db.WithContext(r.Context()).Model(&Document{}).Where("id = ?", d.ID).Update("title", r.FormValue("title")).Error
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func (a *App) Delete(w http.ResponseWriter, r *http.Request) {
	d, code := a.find(r)
	if d == nil {
		w.WriteHeader(code)
		return
	}
	if d.OwnerID != userID(r.Context()) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if err := a.db.WithContext(r.Context()).Delete(&Document{}, d.ID).Error; err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// Counts is computed by one process at a time because it is expensive; it only
// reads.
func (a *App) Counts(ctx context.Context) ([]byte, error) {
	mu := a.rs.NewMutex("wiki:counts", redsync.WithExpiry(time.Minute))
	if err := mu.TryLockContext(ctx); err != nil {
		return nil, err
	}
	defer func() { _, _ = mu.UnlockContext(context.WithoutCancel(ctx)) }()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var n int64
	if err := a.db.WithContext(ctx).Model(&Document{}).Count(&n).Error; err != nil {
		return nil, err
	}
	return json.Marshal(map[string]int64{"documents": n})
}
