package hn49

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/jmoiron/sqlx"
)

// Runner tokens and agents: the credential of a caller of an RPC is compared
// with the stored one; that is authentication.
type server struct{ db *sqlx.DB }

type report struct {
	RunnerID string `json:"runner_id"`
	Token    string `json:"token"`
	JobID    int64  `json:"job_id"`
	Log      string `json:"log"`
}

func (s *server) upload(w http.ResponseWriter, r *http.Request) {
	var in report
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if !s.authorized(r.Context(), in) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if _, err := s.db.ExecContext(r.Context(), `UPDATE jobs SET log = log || $2 WHERE id = $1`, in.JobID, in.Log); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func (s *server) authorized(ctx context.Context, in report) bool {
	var row struct {
		Token   string    `db:"token"`
		Expires time.Time `db:"token_expires_at"`
		Owner   string    `db:"runner_id"`
	}
	if err := s.db.GetContext(ctx, &row, `SELECT j.runner_id, r.token, r.token_expires_at FROM jobs j JOIN runners r ON r.id = j.runner_id WHERE j.id = $1`, in.JobID); err != nil {
		return false
	}
	return row.Token == in.Token && row.Owner == in.RunnerID && time.Now().Before(row.Expires)
}
