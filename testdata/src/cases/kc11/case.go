// Package kc11 is an issue tracker: authorisation before writes, a leader
// gauge, and a job table others work on.
package kc11

import (
	"database/sql"
	"errors"
	"net/http"
	"strconv"
)

type Elector interface{ IsLeader() bool }

type App struct {
	db *sql.DB
	el Elector
	up interface{ Set(float64) }
}

func (a *App) user(r *http.Request) string { return r.Header.Get("X-User") }

// closeIssue: only the owner of an issue may close it.
func (a *App) closeIssue(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		http.Error(w, "bad id", http.StatusBadRequest)
		return
	}
	var owner string
	err = a.db.QueryRowContext(r.Context(), `SELECT owner FROM issues WHERE id = $1`, id).Scan(&owner)
	if errors.Is(err, sql.ErrNoRows) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if owner != a.user(r) {
		http.Error(w, "forbidden", http.StatusForbidden)
		return
	}
	if _, err := a.db.ExecContext(r.Context(), `UPDATE issues SET closed_at = now() WHERE id = $1`, id); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// cancelJob asks the worker that holds the job to stop.
func (a *App) cancelJob(w http.ResponseWriter, r *http.Request) {
	_, err := a.db.ExecContext(r.Context(),
		`UPDATE jobs SET cancel_requested = true WHERE id = $1 AND state IN ('queued', 'running')`, r.PathValue("id"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func (a *App) health(w http.ResponseWriter, _ *http.Request) {
	if a.el.IsLeader() {
		a.up.Set(1)
		_, _ = w.Write([]byte("leader\n"))
		return
	}
	a.up.Set(0)
	_, _ = w.Write([]byte("follower\n"))
}

func (a *App) Routes(m *http.ServeMux) {
	m.HandleFunc("POST /issues/{id}/close", a.closeIssue)
	m.HandleFunc("POST /jobs/{id}/cancel", a.cancelJob)
	m.HandleFunc("GET /healthz", a.health)
}
