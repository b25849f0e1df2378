package hn26

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Articles can be checked out by an editor. The lock belongs to a person; the
// id comes with the request.
type Articles struct{ db *sql.DB }

var ErrCheckedOut = errors.New("another editor has this article open")

type article struct {
	id       int64
	lockedBy sql.NullInt64
	lockedAt sql.NullTime
}

func (a *Articles) Save(ctx context.Context, editorID, id int64, text string) error {
	var art article
	err := a.db.QueryRowContext(ctx, `SELECT id, locked_by, locked_at FROM articles WHERE id = ?`, id).
		Scan(&art.id, &art.lockedBy, &art.lockedAt)
	if err != nil {
		return err
	}
	if art.lockedBy.Valid && art.lockedBy.Int64 != editorID {
		return ErrCheckedOut
	}
	_, err = a.db.ExecContext(ctx, `UPDATE articles SET text = ? WHERE id = ?`, text, art.id)
	return err
}

func (a *Articles) CheckIn(ctx context.Context, editorID, id int64) error {
	_, err := a.db.ExecContext(ctx, `UPDATE articles SET locked_by = NULL WHERE id = ? AND locked_by = ?`, id, editorID)
	return err
}

// Idle shows how long nobody wrote.
func (a *Articles) Idle(ctx context.Context, id int64) (d time.Duration, err error) {
	var at time.Time
	if err = a.db.QueryRowContext(ctx, `SELECT updated_at FROM articles WHERE id = ?`, id).Scan(&at); err != nil {
		return 0, err
	}
	return time.Since(at), nil
}
