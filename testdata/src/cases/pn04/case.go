package pn04

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"gorm.io/gorm"
)

// Page of a wiki: owned by a user, and locked against edits by a moderator.
type Page struct {
	ID       uint
	OwnerID  uint
	LockedBy *uint
	Title    string
	Body     string
}

type ctxKey struct{}

func userID(ctx context.Context) uint {
	id, _ := ctx.Value(ctxKey{}).(uint)
	return id
}

type Handler struct {
	db *gorm.DB
}

var (
	errForbidden = errors.New("not your page")
	errLocked    = errors.New("page is locked")
)

func (h *Handler) editable(ctx context.Context, id uint64, user uint) (*Page, error) {
	var p Page
	if err := h.db.WithContext(ctx).First(&p, id).Error; err != nil {
		return nil, err
	}
	if p.LockedBy != nil && *p.LockedBy != user {
		return nil, errLocked
	}
	if p.OwnerID != user {
		return nil, errForbidden
	}
	return &p, nil
}

func (h *Handler) update(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	var in struct{ Title, Body string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p, err := h.editable(r.Context(), id, userID(r.Context()))
	switch {
	case errors.Is(err, gorm.ErrRecordNotFound):
		http.NotFound(w, r)
		return
	case errors.Is(err, errForbidden), errors.Is(err, errLocked):
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	case err != nil:
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	res := h.db.WithContext(r.Context()).Model(&Page{}).Where("id = ?", p.ID).
		Updates(map[string]any{"title": in.Title, "body": in.Body})
	if res.Error != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
