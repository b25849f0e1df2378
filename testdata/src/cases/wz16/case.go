package wz16

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

var ErrGeneration = errors.New("index has a newer writer")

// ownedBy is appended to the statements of the writer. It reads the owner row
// and leaves it unlocked.
const ownedBy = ` AND EXISTS (SELECT 1 FROM index_owners o WHERE o.idx = :idx AND o.generation = :generation)`

type Segment struct {
	Idx        string `db:"idx"`
	Seg        int64  `db:"seg"`
	Docs       int    `db:"docs"`
	Generation int64  `db:"generation"`
}

type Writer struct {
	db         *sqlx.DB
	idx        string
	generation int64
}

func (w *Writer) row(seg int64, docs int) Segment {
	return Segment{Idx: w.idx, Seg: seg, Docs: docs, Generation: w.generation}
}

func (w *Writer) named(ctx context.Context, ext sqlx.ExtContext, set string, s Segment) (sql.Result, error) {
	return sqlx.NamedExecContext(ctx, ext, `UPDATE index_segments SET `+set+` WHERE idx = :idx AND seg = :seg`+ownedBy, s) // want:W|D
}

func (w *Writer) Resize(ctx context.Context, seg int64, docs int) error { // may:W|D
	res, err := w.named(ctx, w.db, `docs = :docs`, w.row(seg, docs))
	if err != nil {
		return fmt.Errorf("resize: %w", err)
	}
	return hit(res)
}

// Tombstone locks the owner row in the statement itself.
func (w *Writer) Tombstone(ctx context.Context, seg int64) error {
	res, err := w.db.ExecContext(ctx, `
		WITH own AS (SELECT 1 FROM index_owners WHERE idx = $1 AND generation = $3 FOR SHARE)
		UPDATE index_segments SET deleted = true FROM own WHERE idx = $1 AND seg = $2`, w.idx, seg, w.generation)
	if err != nil {
		return fmt.Errorf("tombstone: %w", err)
	}
	return hit(res)
}

func hit(res sql.Result) error {
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrGeneration
	}
	return nil
}
