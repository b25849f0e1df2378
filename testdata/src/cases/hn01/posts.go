package hn01

import (
	"encoding/json"
	"net/http"
	"time"

	"gorm.io/gorm"
)

type ctxKey struct{}

type User struct {
	ID    uint
	Admin bool
}

type Post struct {
	ID        uint
	OwnerID   uint
	Title     string
	Body      string
	UpdatedAt time.Time
}

type API struct{ db *gorm.DB }

// update is the ordinary permission check of a web application.
func (a *API) update(w http.ResponseWriter, r *http.Request) {
	user, ok := r.Context().Value(ctxKey{}).(*User)
	if !ok {
		http.Error(w, "login required", http.StatusUnauthorized)
		return
	}
	var post Post
	if err := a.db.First(&post, "id = ?", r.PathValue("id")).Error; err != nil {
		http.NotFound(w, r)
		return
	}
	if post.OwnerID != user.ID && !user.Admin {
		http.Error(w, "not yours", http.StatusForbidden)
		return
	}
	var in struct{ Title, Body string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := a.db.Model(&post).Updates(Post{Title: in.Title, Body: in.Body}).Error; err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (a *API) remove(w http.ResponseWriter, r *http.Request) {
	user := r.Context().Value(ctxKey{}).(*User)
	var post Post
	if err := a.db.First(&post, "id = ?", r.PathValue("id")).Error; err != nil {
		http.NotFound(w, r)
		return
	}
	if !canDelete(user, &post) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	a.db.Delete(&post)
}

func canDelete(u *User, p *Post) bool { return u.Admin || p.OwnerID == u.ID }
