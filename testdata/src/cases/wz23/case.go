package wz23

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

var ErrOldTerm = errors.New("log segment has a writer of a later term")

// SegmentLog keeps the segments of a replicated log in a local database that
// several processes share. There is no configuration: Extend shows the rule.
type SegmentLog struct {
	db   *sql.DB
	term int64
}

func (l *SegmentLog) Extend(ctx context.Context, id, bytes int64) error {
	res, err := l.db.ExecContext(ctx,
		`UPDATE log_segments SET bytes = ?, writer_term = ? WHERE id = ? AND writer_term <= ?`,
		bytes, l.term, id, l.term)
	return l.must(res, err)
}

func (l *SegmentLog) Rename(ctx context.Context, id int64, path string) error {
	res, err := l.db.ExecContext(ctx,
		`UPDATE log_segments SET path = ?, writer_term = ? WHERE id = ? AND writer_term <= ?`,
		path, l.term, id, l.term)
	return l.must(res, err)
}

func (l *SegmentLog) Create(ctx context.Context, path string) (int64, error) {
	res, err := l.db.ExecContext(ctx,
		`INSERT INTO log_segments (path, bytes, sealed, writer_term) VALUES (?, 0, 0, ?)`, path, l.term)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// SealUpTo is the only writer that does not know about terms.
func (l *SegmentLog) SealUpTo(ctx context.Context, id int64) error {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	open, err := openBefore(ctx, tx, id)
	if err != nil {
		return fmt.Errorf("seal: %w", err)
	}
	for _, seg := range open {
		res, err := tx.ExecContext(ctx, `UPDATE log_segments SET sealed = 1 WHERE id = ?`, seg) // want:W
		if err := l.must(res, err); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func openBefore(ctx context.Context, tx *sql.Tx, id int64) ([]int64, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id FROM log_segments WHERE id <= ? AND sealed = 0 ORDER BY id`, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, rows.Err()
}

func (l *SegmentLog) must(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrOldTerm)
	}
	return nil
}
