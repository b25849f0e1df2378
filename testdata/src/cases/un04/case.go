// Package un04 receives webhooks that the sender may repeat.
package un04

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

type event struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Account string `json:"account"`
	Cents   int64  `json:"cents"`
}

type Hooks struct{ db *sql.DB }

// apply books an event once: the row of the event and its effect commit
// together, a repetition finds the row.
func (h *Hooks) apply(ctx context.Context, e event, raw []byte) (fresh bool, err error) {
	tx, err := h.db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	res, err := tx.ExecContext(ctx,
		`INSERT INTO hook_event (id, type, body) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`, e.ID, e.Type, raw)
	if err != nil {
		return false, fmt.Errorf("event %s: %w", e.ID, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return false, err
	}
	if n == 0 {
		return false, nil
	}
	switch e.Type {
	case "payment":
		_, err = tx.ExecContext(ctx, `UPDATE hook_account SET cents = cents + $2 WHERE id = $1`, e.Account, e.Cents)
	case "refund":
		_, err = tx.ExecContext(ctx, `UPDATE hook_account SET cents = cents - $2 WHERE id = $1`, e.Account, e.Cents)
	case "close":
		_, err = tx.ExecContext(ctx, `UPDATE hook_account SET closed = true WHERE id = $1`, e.Account)
	}
	if err != nil {
		return false, err
	}
	return true, tx.Commit()
}

func (h *Hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
	if err != nil {
		http.Error(w, "body", http.StatusBadRequest)
		return
	}
	var e event
	if err := json.Unmarshal(raw, &e); err != nil || e.ID == "" {
		http.Error(w, "event", http.StatusBadRequest)
		return
	}
	fresh, err := h.apply(r.Context(), e, raw)
	if err != nil {
		http.Error(w, "try again", http.StatusServiceUnavailable)
		return
	}
	if fresh {
		w.WriteHeader(http.StatusCreated)
	}
}
