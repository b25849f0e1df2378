package mn14

import (
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Handlers is the public side of the queue: it adds tasks and sets columns
// that workers do not write.
type Handlers struct{ pool *pgxpool.Pool }

type newTask struct {
	Queue   string          `json:"queue"`
	Payload json.RawMessage `json:"payload"`
	Note    string          `json:"note"`
}

func fail(w http.ResponseWriter, err error) {
	slog.Error("request", "err", err)
	http.Error(w, "internal error", http.StatusInternalServerError)
}

func (h *Handlers) Add(w http.ResponseWriter, r *http.Request) {
	var in newTask
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var id int64
	err := h.pool.QueryRow(r.Context(),
		`INSERT INTO worker_tasks (queue, payload, note) VALUES ($1, $2, $3) RETURNING id`,
		in.Queue, []byte(in.Payload), sql.NullString{String: in.Note, Valid: in.Note != ""}).Scan(&id)
	if err != nil {
		fail(w, err)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]int64{"id": id})
}

func (h *Handlers) Annotate(w http.ResponseWriter, r *http.Request) {
	tag, err := h.pool.Exec(r.Context(),
		`UPDATE worker_tasks SET note = $2, priority = $3 WHERE id = $1`,
		r.PathValue("id"), r.FormValue("note"), r.FormValue("priority"))
	if err != nil {
		fail(w, err)
		return
	}
	if tag.RowsAffected() == 0 {
		http.NotFound(w, r)
	}
}

func (h *Handlers) State(w http.ResponseWriter, r *http.Request) {
	var state string
	err := h.pool.QueryRow(r.Context(), `SELECT state FROM worker_tasks WHERE id = $1`, r.PathValue("id")).Scan(&state)
	if errors.Is(err, pgx.ErrNoRows) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		fail(w, err)
		return
	}
	_, _ = w.Write([]byte(state))
}
