package uv19

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Offsets keeps the read position of a consumer per partition. The statements
// are prepared once, at start-up.
type Offsets struct {
	db     *sql.DB
	load   *sql.Stmt
	commit *sql.Stmt
	reset  *sql.Stmt
}

var ErrFenced = errors.New("partition was assigned to another consumer")

func Open(ctx context.Context, db *sql.DB) (_ *Offsets, err error) {
	o := &Offsets{db: db}
	if o.load, err = db.PrepareContext(ctx, `SELECT position FROM offsets WHERE topic = ? AND part = ?`); err != nil {
		return nil, fmt.Errorf("prepare load: %w", err)
	}
	if o.commit, err = db.PrepareContext(ctx,
		`UPDATE offsets SET position = ?, generation = ? WHERE topic = ? AND part = ? AND generation <= ?`); err != nil {
		return nil, fmt.Errorf("prepare commit: %w", err)
	}
	if o.reset, err = db.PrepareContext(ctx, `UPDATE offsets SET position = ? WHERE topic = ? AND part = ?`); err != nil { // may:W
		return nil, fmt.Errorf("prepare reset: %w", err)
	}
	return o, nil
}

func (o *Offsets) Load(ctx context.Context, topic string, part int) (pos int64, err error) {
	err = o.load.QueryRowContext(ctx, topic, part).Scan(&pos)
	return pos, err
}

// Commit is refused when a later generation has written.
func (o *Offsets) Commit(ctx context.Context, gen int64, topic string, part int, pos int64) error {
	res, err := o.commit.ExecContext(ctx, pos, gen, topic, part, gen)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrFenced)
	}
	return nil
}

// Rewind is used by the consumer after a poison message; it forgot the generation.
func (o *Offsets) Rewind(ctx context.Context, gen int64, topic string, part int, pos int64) error {
	if pos < 0 {
		pos = 0
	}
	_, err := o.reset.ExecContext(ctx, pos, topic, part) // want:W
	return err
}
