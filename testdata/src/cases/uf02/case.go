package uf02

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

// recurringRow remembers when a recurring task was last started by any web
// process.
type recurringRow struct {
	Task        string       `db:"task"`
	LastStarted sql.NullTime `db:"last_started_at"`
}

type Task struct {
	Name  string
	Every time.Duration
	Run   func(context.Context) error
}

type Runner struct{ db *sqlx.DB }

func (r *Runner) load(ctx context.Context, name string) (recurringRow, error) {
	row := recurringRow{Task: name}
	err := r.db.GetContext(ctx, &row, `SELECT task, last_started_at FROM recurring_tasks WHERE task = ?`, name)
	if errors.Is(err, sql.ErrNoRows) {
		_, err = r.db.ExecContext(ctx, `INSERT IGNORE INTO recurring_tasks (task) VALUES (?)`, name)
	}
	return row, err
}

// MaybeRun starts the task unless some replica did so less than a period ago.
func (r *Runner) MaybeRun(ctx context.Context, t Task) error {
	row, err := r.load(ctx, t.Name)
	if err != nil {
		return fmt.Errorf("load %s: %w", t.Name, err)
	}
	if row.LastStarted.Valid && time.Now().Before(row.LastStarted.Time.Add(t.Every)) { // want:T
		return nil
	}
	_, err = r.db.ExecContext(ctx, // may:C|T
		`UPDATE recurring_tasks SET last_started_at = ? WHERE task = ?`, time.Now(), t.Name)
	if err != nil {
		return fmt.Errorf("stamp %s: %w", t.Name, err)
	}
	return t.Run(ctx) // may:C|E
}
