package hn42

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"time"
)

// Seats are held for a customer for ten minutes; the holder is a user.
type Seats struct{ db *sql.DB }

var errTaken = errors.New("seat is held by another customer")

type hold struct {
	UserID    int64
	HeldUntil time.Time
}

func (s *Seats) Hold(ctx context.Context, userID, seat int64) error {
	var h hold
	err := s.db.QueryRowContext(ctx, `SELECT user_id, held_until FROM seat_holds WHERE seat_id = $1`, seat).Scan(&h.UserID, &h.HeldUntil)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if h.UserID != 0 && h.UserID != userID && time.Now().Before(h.HeldUntil) {
		return errTaken
	}
	_, err = s.db.ExecContext(ctx, `INSERT INTO seat_holds (seat_id, user_id, held_until) VALUES ($1, $2, $3)
		ON CONFLICT (seat_id) DO UPDATE SET user_id = EXCLUDED.user_id, held_until = EXCLUDED.held_until`, seat, userID, time.Now().Add(10*time.Minute))
	return err
}

func (s *Seats) drop(w http.ResponseWriter, r *http.Request) {
	var owner string
	if err := s.db.QueryRowContext(r.Context(), `SELECT session FROM seat_holds WHERE seat_id = $1`, r.FormValue("seat")).Scan(&owner); err != nil {
		http.NotFound(w, r)
		return
	}
	c, err := r.Cookie("session")
	if err != nil || c.Value != owner {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if _, err := s.db.ExecContext(r.Context(), `DELETE FROM seat_holds WHERE seat_id = $1`, r.FormValue("seat")); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
