package wn01

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
)

type ctxKey struct{}

type user struct {
	ID    int64
	Admin bool
}

type document struct {
	ID      int64
	OwnerID int64
	Title   string
	Locked  bool // made read-only by its author
}

// App is an ordinary web application: rights are checked before the write.
type App struct{ db *sql.DB }

var errForbidden = errors.New("forbidden")

func currentUser(ctx context.Context) (*user, bool) {
	u, ok := ctx.Value(ctxKey{}).(*user)
	return u, ok
}

func (a *App) load(ctx context.Context, id string) (*document, error) {
	var d document
	err := a.db.QueryRowContext(ctx, `SELECT id, owner_id, title, locked FROM documents WHERE id = $1`, id).
		Scan(&d.ID, &d.OwnerID, &d.Title, &d.Locked)
	return &d, err
}

func (a *App) mayEdit(u *user, d *document) error {
	if d.OwnerID != u.ID && !u.Admin {
		return errForbidden
	}
	if d.Locked {
		return errForbidden
	}
	return nil
}

func (a *App) rename(w http.ResponseWriter, r *http.Request) {
	u, ok := currentUser(r.Context())
	if !ok {
		http.Error(w, "login first", http.StatusUnauthorized)
		return
	}
	var in struct {
		Title string `json:"title"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	d, err := a.load(r.Context(), r.PathValue("id"))
	if errors.Is(err, sql.ErrNoRows) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if err := a.mayEdit(u, d); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if _, err := a.db.ExecContext(r.Context(), `UPDATE documents SET title = $2, updated_at = now() WHERE id = $1`, d.ID, in.Title); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (a *App) remove(w http.ResponseWriter, r *http.Request) {
	u, _ := currentUser(r.Context())
	d, err := a.load(r.Context(), r.PathValue("id"))
	if err != nil || u == nil || d.OwnerID != u.ID {
		http.NotFound(w, r)
		return
	}
	if _, err := a.db.ExecContext(r.Context(), `DELETE FROM documents WHERE id = $1`, d.ID); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
