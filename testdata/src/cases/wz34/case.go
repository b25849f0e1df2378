// Package wz34 is the API side: it queues runs and asks for cancellation. It
// never acts as the owner of a run.
package wz34

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/jmoiron/sqlx"
)

type API struct{ db *sqlx.DB }

func (a *API) Submit(w http.ResponseWriter, r *http.Request) {
	var spec json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&spec); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var id int64
	if err := a.db.GetContext(r.Context(), &id, `INSERT INTO pipeline_runs (spec) VALUES ($1) RETURNING id`, []byte(spec)); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]int64{"id": id})
}

func (a *API) Cancel(ctx context.Context, id int64) error {
	_, err := a.db.ExecContext(ctx, `UPDATE pipeline_runs SET cancel_requested = true WHERE id = $1`, id)
	return err
}
