// Package runner executes queued runs.
package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

var ErrReclaimed = errors.New("run was claimed by another runner")

type Run struct {
	ID    int64
	Claim uuid.UUID
}

type Store struct{ db *sqlx.DB }

type column struct {
	name  string
	value any
}

// assign renders "a = $n, b = $n+1".
func assign(from int, cols []column) (string, []any) {
	parts, args := make([]string, len(cols)), make([]any, len(cols))
	for i, c := range cols {
		parts[i], args[i] = fmt.Sprintf("%s = $%d", c.name, from+i), c.value
	}
	return strings.Join(parts, ", "), args
}

// Patch sets columns of a claimed run.
func (s *Store) Patch(ctx context.Context, r Run, cols ...column) error {
	set, args := assign(3, cols)
	return s.one(ctx, `UPDATE pipeline_runs SET `+set+` WHERE id = $1 AND claim_id = $2`, append([]any{r.ID, r.Claim}, args...)...)
}

func (s *Store) Phase(ctx context.Context, r Run, phase string) error {
	return s.Patch(ctx, r, column{"phase", phase})
}

// Note is for people; the column is open.
func (s *Store) Note(ctx context.Context, r Run, text string) error {
	_, err := s.db.ExecContext(ctx, `UPDATE pipeline_runs SET note = $2 WHERE id = $1`, r.ID, text)
	return err
}

// Abort sets an open column and, in the same statement, one that is not.
func (s *Store) Abort(ctx context.Context, r Run, why error) error {
	res, err := s.db.ExecContext(ctx, // want:W|L
		`UPDATE pipeline_runs SET note = $2, phase = 'aborted' WHERE id = $1 AND phase <> 'done'`, r.ID, why.Error())
	if err != nil {
		return fmt.Errorf("abort %d: %w", r.ID, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrReclaimed)
	}
	return nil
}

func (s *Store) one(ctx context.Context, query string, args ...any) error {
	res, err := s.db.ExecContext(ctx, query, args...)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrReclaimed)
	}
	return nil
}
