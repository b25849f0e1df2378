package hn20

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"
)

type Document struct {
	ID      int64  `db:"id"`
	Version int64  `db:"version"`
	Text    string `db:"text"`
}

type Handler struct{ db *sqlx.DB }

// put is optimistic editing for people: If-Match carries a version that the
// client read. It is not a fence of a process.
func (h *Handler) put(w http.ResponseWriter, r *http.Request) {
	want, err := strconv.ParseInt(strings.Trim(r.Header.Get("If-Match"), `"`), 10, 64)
	if err != nil {
		w.WriteHeader(http.StatusPreconditionRequired)
		return
	}
	var doc Document
	if err := h.db.GetContext(r.Context(), &doc, `SELECT id, version, text FROM documents WHERE id = ?`, r.PathValue("id")); err != nil {
		http.NotFound(w, r)
		return
	}
	if doc.Version != want {
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&doc.Text); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if _, err := h.db.ExecContext(r.Context(), `UPDATE documents SET text = ?, version = version + 1 WHERE id = ?`, doc.Text, doc.ID); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
