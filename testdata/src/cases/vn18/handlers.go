package vn18

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/jmoiron/sqlx"
)

type ctxKey struct{}

type Doer struct {
	ID    int64
	Admin bool
}

type Repo struct {
	ID       int64  `db:"id"`
	OwnerID  int64  `db:"owner_id"`
	Name     string `db:"name"`
	Archived bool   `db:"archived"`
}

type Handlers struct{ db *sqlx.DB }

var errForbidden = errors.New("forbidden")

func doer(r *http.Request) *Doer {
	d, _ := r.Context().Value(ctxKey{}).(*Doer)
	return d
}

func (h *Handlers) isOwner(ctx context.Context, d *Doer, repo *Repo) (bool, error) {
	if d.Admin || repo.OwnerID == d.ID {
		return true, nil
	}
	var n int
	err := h.db.GetContext(ctx, &n, `SELECT count(*) FROM org_owner WHERE org_id = $1 AND account_id = $2`, repo.OwnerID, d.ID)
	return n > 0, err
}

func (h *Handlers) load(r *http.Request) (*Repo, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, err
	}
	d := doer(r)
	if d == nil {
		return nil, errForbidden
	}
	var repo Repo
	if err := h.db.GetContext(r.Context(), &repo, `SELECT id, owner_id, name, archived FROM repository WHERE id = $1`, id); err != nil {
		return nil, err
	}
	ok, err := h.isOwner(r.Context(), d, &repo)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errForbidden
	}
	return &repo, nil
}

func (h *Handlers) Rename(w http.ResponseWriter, r *http.Request) {
	repo, err := h.load(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if _, err := h.db.ExecContext(r.Context(), `UPDATE repository SET name = $2 WHERE id = $1`, repo.ID, r.FormValue("name")); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (h *Handlers) Delete(w http.ResponseWriter, r *http.Request) {
	repo, err := h.load(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if _, err := h.db.ExecContext(r.Context(), `DELETE FROM repository WHERE id = $1`, repo.ID); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
