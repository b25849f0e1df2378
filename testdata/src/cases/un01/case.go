// Package un01 is a small wiki: users edit the pages they own.
package un01

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

type ctxKey struct{}

type User struct {
	ID    int64
	Admin bool
}

type Page struct {
	ID      int64     `json:"id"`
	OwnerID int64     `json:"owner_id"`
	Title   string    `json:"title"`
	Body    string    `json:"body"`
	Locked  bool      `json:"locked"`
	Edited  time.Time `json:"edited"`
}

type Pages struct{ db *sql.DB }

func (p *Pages) load(ctx context.Context, id string) (pg Page, err error) {
	err = p.db.QueryRowContext(ctx, `SELECT id, owner_id, title, body, locked, edited_at FROM wiki_page WHERE id = $1`, id).
		Scan(&pg.ID, &pg.OwnerID, &pg.Title, &pg.Body, &pg.Locked, &pg.Edited)
	return pg, err
}

func currentUser(r *http.Request) *User {
	u, _ := r.Context().Value(ctxKey{}).(*User)
	return u
}

func mayEdit(u *User, pg Page) bool {
	return u != nil && (u.Admin || pg.OwnerID == u.ID)
}

// Save handles PUT /pages/{id}.
func (p *Pages) Save(w http.ResponseWriter, r *http.Request) {
	pg, err := p.load(r.Context(), r.PathValue("id"))
	if errors.Is(err, sql.ErrNoRows) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, "load", http.StatusInternalServerError)
		return
	}
	u := currentUser(r)
	if !mayEdit(u, pg) {
		http.Error(w, "not yours", http.StatusForbidden)
		return
	}
	if pg.Locked && !u.Admin {
		http.Error(w, "page is locked", http.StatusLocked)
		return
	}
	var in struct{ Title, Body string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&in); err != nil {
		http.Error(w, "bad body", http.StatusBadRequest)
		return
	}
	if _, err := p.db.ExecContext(r.Context(),
		`UPDATE wiki_page SET title = $2, body = $3, edited_at = now() WHERE id = $1`, pg.ID, in.Title, in.Body); err != nil {
		http.Error(w, "save", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// Remove handles DELETE /pages/{id}.
func (p *Pages) Remove(w http.ResponseWriter, r *http.Request) {
	pg, err := p.load(r.Context(), r.PathValue("id"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	if u := currentUser(r); u == nil || pg.OwnerID != u.ID {
		http.Error(w, "not yours", http.StatusForbidden)
		return
	}
	if _, err := p.db.ExecContext(r.Context(), `DELETE FROM wiki_page WHERE id = $1`, pg.ID); err != nil {
		http.Error(w, "remove", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
