// Package hz01 is a small forum. Posts are edited by their authors; a redis
// mutex keeps the digest mail job to one replica.
package hz01

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-redsync/redsync/v4"
)

type User struct {
	ID    int64
	Admin bool
}

type Post struct {
	ID, AuthorID int64
	Body         string
	LockedBy     sql.NullInt64 // moderator who closed the thread
}

type ctxKey struct{}

func currentUser(r *http.Request) *User {
	u, _ := r.Context().Value(ctxKey{}).(*User)
	return u
}

type App struct {
	db *sql.DB
	rs *redsync.Redsync
}

func (a *App) post(ctx context.Context, id string) (*Post, error) {
	var p Post
	err := a.db.QueryRowContext(ctx, `SELECT id, author_id, body, locked_by FROM posts WHERE id = ?`, id).
		Scan(&p.ID, &p.AuthorID, &p.Body, &p.LockedBy)
	return &p, err
}

func (a *App) edit(w http.ResponseWriter, r *http.Request) {
	u := currentUser(r)
	p, err := a.post(r.Context(), r.PathValue("id"))
	if errors.Is(err, sql.ErrNoRows) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	if u == nil || (p.AuthorID != u.ID && !u.Admin) {
		http.Error(w, "not your post", http.StatusForbidden)
		return
	}
	if p.LockedBy.Valid && p.LockedBy.Int64 != u.ID {
		http.Error(w, "thread is closed", http.StatusLocked)
		return
	}
	if _, err := a.db.ExecContext(r.Context(), `UPDATE posts SET body = ? WHERE id = ?`, r.FormValue("body"), p.ID); err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	http.Redirect(w, r, fmt.Sprintf("/posts/%d", p.ID), http.StatusSeeOther)
}

// digest queues one mail per subscriber and day; the unique key makes a second
// run harmless, the mutex only saves the work.
func (a *App) digest(ctx context.Context, day time.Time) error { // may:M
	mu := a.rs.NewMutex("digest", redsync.WithTries(1), redsync.WithExpiry(5*time.Minute))
	if err := mu.LockContext(ctx); err != nil {
		return nil
	}
	defer mu.UnlockContext(context.WithoutCancel(ctx))
	_, err := a.db.ExecContext(ctx, `
		INSERT INTO mail_queue (subscriber_id, day)
		SELECT id, $1 FROM subscribers WHERE active
		ON CONFLICT (subscriber_id, day) DO NOTHING`, day.Format(time.DateOnly))
	return err
}
