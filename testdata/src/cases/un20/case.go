// Package un20 serves file locks of a code forge: people lock binary files they
// are about to change.
package un20

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"
)

type userKey struct{}

type Account struct {
	ID    int64
	Login string
	Admin bool
}

type FileLock struct {
	ID      int64     `json:"id,string"`
	Path    string    `json:"path"`
	OwnerID int64     `json:"-"`
	At      time.Time `json:"locked_at"`
}

type Server struct {
	db   *sql.DB
	auth func(r *http.Request) (*Account, error)
}

// WithUser puts the account of a request into its context.
func (s *Server) WithUser(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		acc, err := s.auth(r)
		if err != nil {
			http.Error(w, "credentials needed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), userKey{}, acc)))
	})
}

func doer(r *http.Request) *Account {
	acc, _ := r.Context().Value(userKey{}).(*Account)
	return acc
}

// Create handles POST /locks.
func (s *Server) Create(w http.ResponseWriter, r *http.Request) {
	var in struct{ Path string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Path == "" {
		http.Error(w, "path", http.StatusUnprocessableEntity)
		return
	}
	l := FileLock{Path: in.Path, OwnerID: doer(r).ID}
	err := s.db.QueryRowContext(r.Context(),
		`INSERT INTO forge_file_lock (path, owner_id, locked_at) VALUES ($1, $2, now())
		 ON CONFLICT (path) DO NOTHING RETURNING id, locked_at`, l.Path, l.OwnerID).Scan(&l.ID, &l.At)
	if errors.Is(err, sql.ErrNoRows) {
		http.Error(w, "already locked", http.StatusConflict)
		return
	}
	if err != nil {
		http.Error(w, "database", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]any{"lock": l})
}

// Remove handles POST /locks/{id}/unlock.
func (s *Server) Remove(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	var in struct{ Force bool }
	_ = json.NewDecoder(r.Body).Decode(&in)
	l := FileLock{ID: id}
	err = s.db.QueryRowContext(r.Context(), `SELECT path, owner_id, locked_at FROM forge_file_lock WHERE id = $1`, id).
		Scan(&l.Path, &l.OwnerID, &l.At)
	if errors.Is(err, sql.ErrNoRows) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, "database", http.StatusInternalServerError)
		return
	}
	me := doer(r)
	if l.OwnerID != me.ID && !(in.Force && me.Admin) {
		http.Error(w, "locked by somebody else", http.StatusForbidden)
		return
	}
	if _, err := s.db.ExecContext(r.Context(), `DELETE FROM forge_file_lock WHERE id = $1`, l.ID); err != nil {
		http.Error(w, "database", http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"lock": l})
}
