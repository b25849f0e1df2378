package yn07

import (
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
)

// Dashboards belong to users; the owner here is an account, not a process.
type dashboard struct {
	ID      string          `json:"id"`
	OwnerID int64           `json:"owner_id"`
	Locked  bool            `json:"locked"`
	Spec    json.RawMessage `json:"spec"`
}

type API struct {
	db   *sql.DB
	user func(*http.Request) (int64, bool)
}

func (a *API) load(r *http.Request, id string) (*dashboard, error) {
	var d dashboard
	err := a.db.QueryRowContext(r.Context(),
		`SELECT id, owner_id, locked, spec FROM dashboards WHERE id = $1`, id).
		Scan(&d.ID, &d.OwnerID, &d.Locked, &d.Spec)
	return &d, err
}

func (a *API) Save(w http.ResponseWriter, r *http.Request) {
	uid, ok := a.user(r)
	if !ok {
		http.Error(w, "sign in", http.StatusUnauthorized)
		return
	}
	d, err := a.load(r, r.PathValue("id"))
	if errors.Is(err, sql.ErrNoRows) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, "database", http.StatusInternalServerError)
		return
	}
	if d.OwnerID != uid {
		http.Error(w, "not yours", http.StatusForbidden)
		return
	}
	if d.Locked {
		http.Error(w, "dashboard is read-only", http.StatusConflict)
		return
	}
	var spec json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&spec); err != nil {
		http.Error(w, "bad spec", http.StatusBadRequest)
		return
	}
	_, err = a.db.ExecContext(r.Context(), `UPDATE dashboards SET spec = $2 WHERE id = $1`, d.ID, []byte(spec))
	if err != nil {
		http.Error(w, "database", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
