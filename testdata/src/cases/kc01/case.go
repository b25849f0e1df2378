// Package kc01 loads warehouse tables; each writer fences its commits.
package kc01

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

var ErrFencedOff = errors.New("another loader has taken over")

type Loader struct {
	db    *sql.DB
	name  string
	fence int64
	table string
}

// Install raises the fence of the loader's checkpoint row.
func (l *Loader) Install(ctx context.Context) error {
	return l.db.QueryRowContext(ctx,
		`INSERT INTO load_checkpoints (loader, fence, cursor) VALUES ($1, 1, '')
		 ON CONFLICT (loader) DO UPDATE SET fence = load_checkpoints.fence + 1
		 RETURNING fence`, l.name).Scan(&l.fence)
}

// Commit stores a batch and the cursor behind it in one transaction.
func (l *Loader) Commit(ctx context.Context, cursor string, docs map[string][]byte) error {
	var cur int64
	if err := l.db.QueryRowContext(ctx, `SELECT fence FROM load_checkpoints WHERE loader = $1`, l.name).Scan(&cur); err != nil {
		return err
	}
	if cur != l.fence {
		return ErrFencedOff // saves the upload
	}
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()

	res, err := tx.ExecContext(ctx,
		`UPDATE load_checkpoints SET cursor = $3 WHERE loader = $1 AND fence = $2`, l.name, l.fence, cursor)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrFencedOff
	}
	for id, doc := range docs {
		if _, err := tx.ExecContext(ctx,
			`INSERT INTO documents (id, doc) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET doc = EXCLUDED.doc`, id, doc); err != nil {
			return fmt.Errorf("store %s: %w", id, err)
		}
	}
	return tx.Commit()
}
