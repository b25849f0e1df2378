package qn02

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Persistence of task queues: every write transaction locks the row of the
// queue and compares its range id, as the queue may have moved to another host.
type Persistence struct{ db *sql.DB }

var ErrConditionFailed = errors.New("range id has changed")

type Task struct {
	ID   int64
	Body []byte
}

func (p *Persistence) tx(ctx context.Context, queue string, rangeID int64, fn func(*sql.Tx) error) (err error) {
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback()
		}
	}()
	if err = lockQueue(ctx, tx, queue, rangeID); err != nil {
		return err
	}
	if err = fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func lockQueue(ctx context.Context, tx *sql.Tx, queue string, rangeID int64) error {
	var cur int64
	err := tx.QueryRowContext(ctx, `SELECT range_id FROM task_queues WHERE name = $1 FOR UPDATE`, queue).Scan(&cur)
	if err != nil {
		return fmt.Errorf("lock queue %s: %w", queue, err)
	}
	if cur != rangeID {
		return ErrConditionFailed
	}
	return nil
}

func (p *Persistence) CreateTasks(ctx context.Context, queue string, rangeID int64, ts []Task) error {
	return p.tx(ctx, queue, rangeID, func(tx *sql.Tx) error {
		for _, t := range ts {
			if _, err := tx.ExecContext(ctx,
				`INSERT INTO tasks (queue, id, body) VALUES ($1, $2, $3)`, queue, t.ID, t.Body); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p *Persistence) CompleteUpTo(ctx context.Context, queue string, rangeID, id int64) error {
	return p.tx(ctx, queue, rangeID, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM tasks WHERE queue = $1 AND id <= $2`, queue, id)
		return err
	})
}
