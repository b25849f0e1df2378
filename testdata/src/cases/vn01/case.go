package vn01

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// A wiki: users check pages out, edit them and check them in again. Every check
// here is about the user of the request, not about this process.
type Server struct{ db *sql.DB }

type user struct {
	id    int64
	admin bool
}

type page struct {
	id       int64
	owner    int64
	lockedBy sql.NullInt64
}

var errAnonymous = errors.New("not signed in")

func (s *Server) user(r *http.Request) (*user, error) {
	c, err := r.Cookie("sid")
	if err != nil {
		return nil, errAnonymous
	}
	var u user
	var expires time.Time
	err = s.db.QueryRowContext(r.Context(),
		`SELECT u.id, u.admin, s.expires_at FROM session s JOIN account u ON u.id = s.account_id WHERE s.id = $1`, c.Value).
		Scan(&u.id, &u.admin, &expires)
	if err != nil {
		return nil, err
	}
	if time.Now().After(expires) {
		_, _ = s.db.ExecContext(r.Context(), `DELETE FROM session WHERE id = $1`, c.Value)
		return nil, errAnonymous
	}
	return &u, nil
}

func (s *Server) page(ctx context.Context, slug string) (*page, error) {
	var p page
	err := s.db.QueryRowContext(ctx, `SELECT id, owner_id, locked_by FROM page WHERE slug = $1`, slug).Scan(&p.id, &p.owner, &p.lockedBy)
	return &p, err
}

func (s *Server) Save(w http.ResponseWriter, r *http.Request) {
	u, err := s.user(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	p, err := s.page(r.Context(), r.PathValue("slug"))
	if err != nil {
		http.Error(w, "no such page", http.StatusNotFound)
		return
	}
	if p.owner != u.id && !u.admin {
		http.Error(w, "not yours", http.StatusForbidden)
		return
	}
	if p.lockedBy.Valid && p.lockedBy.Int64 != u.id {
		http.Error(w, "checked out by someone else", http.StatusConflict)
		return
	}
	var in struct{ Title, Body string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, err = s.db.ExecContext(r.Context(), `UPDATE page SET title = $2, body = $3, edited_at = now() WHERE id = $1`, p.id, in.Title, in.Body)
	if err != nil {
		http.Error(w, "storage", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
