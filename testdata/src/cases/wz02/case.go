package wz02

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

var ErrSuperseded = errors.New("job was handed to another printer")

type statements struct {
	progress *sql.Stmt
	printed  *sql.Stmt
	jammed   *sql.Stmt
}

// Spooler is one printer's view of the queue; the statements are prepared once.
type Spooler struct {
	db *sql.DB
	st statements
}

func Open(ctx context.Context, db *sql.DB) (*Spooler, error) {
	s := &Spooler{db: db}
	var err error
	if s.st.progress, err = db.PrepareContext(ctx,
		"UPDATE print_jobs SET pages = ? WHERE id = ? AND attempt_no = ?"); err != nil {
		return nil, fmt.Errorf("prepare progress: %w", err)
	}
	if s.st.printed, err = db.PrepareContext(ctx,
		"UPDATE print_jobs SET status = 'printed' WHERE id = ? AND attempt_no = ?"); err != nil {
		return nil, fmt.Errorf("prepare printed: %w", err)
	}
	if s.st.jammed, err = db.PrepareContext(ctx, // may:W|L
		"UPDATE print_jobs SET status = 'jammed', reason = ? WHERE id = ? AND status = 'printing'"); err != nil {
		return nil, fmt.Errorf("prepare jammed: %w", err)
	}
	return s, nil
}

type Job struct {
	ID      int64
	Attempt int
}

func one(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrSuperseded
	}
	return nil
}

func (s *Spooler) Page(ctx context.Context, j Job, page int) error {
	return one(s.st.progress.ExecContext(ctx, page, j.ID, j.Attempt))
}

func (s *Spooler) Printed(ctx context.Context, j Job) error {
	return one(s.st.printed.ExecContext(ctx, j.ID, j.Attempt))
}

// Jammed looks at the state only: the next attempt is "printing" as well.
func (s *Spooler) Jammed(ctx context.Context, j Job, reason string) error {
	return one(s.st.jammed.ExecContext(ctx, reason, j.ID)) // want:W|L
}

func (s *Spooler) Close() error {
	return errors.Join(s.st.progress.Close(), s.st.printed.Close(), s.st.jammed.Close())
}
