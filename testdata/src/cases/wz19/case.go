package wz19

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
)

var ErrFarmMoved = errors.New("farm is driven by another node")

// Farm is the state machine of one render farm.
type Farm struct {
	db   *sql.DB
	log  *slog.Logger
	name string
	seq  int64
}

type query struct {
	text string
	args []any
}

func (f *Farm) finish(task int64, output string) query {
	return query{
		text: `WITH t AS (
			UPDATE render_tasks SET state = 'done', output = $3, lease_seq = $2
			WHERE id = $1 AND lease_seq <= $2
			RETURNING farm, frame
		) SELECT count(*) FROM t`,
		args: []any{task, f.seq, output},
	}
}

// archive moves rows between tables in one statement.
func (f *Farm) archive(state string) query {
	return query{
		text: fmt.Sprintf(`WITH moved AS (
			DELETE FROM render_tasks WHERE farm = $1 AND state = '%s'
			RETURNING *
		), stored AS (
			INSERT INTO render_tasks_done SELECT * FROM moved RETURNING id
		) SELECT count(*) FROM stored`, state),
		args: []any{f.name},
	}
}

func (f *Farm) Finish(ctx context.Context, task int64, output string) error {
	var n int
	q := f.finish(task, output)
	if err := f.db.QueryRowContext(ctx, q.text, q.args...).Scan(&n); err != nil {
		return fmt.Errorf("finish %d: %w", task, err)
	}
	if n == 0 {
		return ErrFarmMoved
	}
	return nil
}

// Sweep archives what is done, however old this node's view of the farm is.
func (f *Farm) Sweep(ctx context.Context) error {
	q := f.archive("done")
	var n int
	if err := f.db.QueryRowContext(ctx, q.text, q.args...).Scan(&n); err != nil { // want:W
		return fmt.Errorf("sweep %s: %w", f.name, err)
	}
	f.log.InfoContext(ctx, "archived", "farm", f.name, "tasks", n)
	return nil
}
