package ue27

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	sq "github.com/Masterminds/squirrel"
)

// Guard keeps a scheduled task from running on two instances at once.
type Guard struct {
	db    *sql.DB
	stmt  sq.StatementBuilderType
	owner string
}

func NewGuard(db *sql.DB) (*Guard, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &Guard{
		db:    db,
		stmt:  sq.StatementBuilder.PlaceholderFormat(sq.Dollar).RunWith(db),
		owner: fmt.Sprintf("%s:%d", host, os.Getpid()),
	}, nil
}

// Skipped says that another instance has the task.
var Skipped = errors.New("task is locked elsewhere")

func (g *Guard) lock(ctx context.Context, task string, atMost time.Duration) error {
	var (
		until time.Time
		by    string
	)
	err := g.stmt.Select("lock_until", "locked_by").From("task_lock").
		Where(sq.Eq{"task": task}).
		QueryRowContext(ctx).Scan(&until, &by)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		_, err := g.stmt.Insert("task_lock").Columns("task", "lock_until", "locked_by"). // may:T|C
													Values(task, time.Now().Add(atMost), g.owner).ExecContext(ctx)
		return err
	case err != nil:
		return fmt.Errorf("read lock of %s: %w", task, err)
	}
	if until.After(time.Now()) { // want:T
		return Skipped
	}
	_, err = g.stmt.Update("task_lock"). // want:C // may:T
						Set("lock_until", time.Now().Add(atMost)).
						Set("locked_by", g.owner).
						Where(sq.Eq{"task": task}).
						ExecContext(ctx)
	return err
}

// Do runs fn unless the task is locked. The lock is shortened afterwards.
func (g *Guard) Do(ctx context.Context, task string, atMost time.Duration, fn func(context.Context) error) error { // may:M
	if err := g.lock(ctx, task, atMost); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	runErr := fn(ctx)
	_, err := g.stmt.Update("task_lock").
		Set("lock_until", time.Now()). // may:T
		Where(sq.Eq{"task": task, "locked_by": g.owner}).
		ExecContext(context.WithoutCancel(ctx))
	return errors.Join(runErr, err)
}
