package xn02

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

var ErrSuperseded = errors.New("a newer sync has started")

// unit is one page of changes. The documents are written first; the cursor is
// locked, compared and moved last, right before the commit.
type unit struct {
	tx     *sql.Tx
	source string
	gen    int64
}

type Syncer struct {
	db     *sql.DB
	source string
	gen    int64
}

func (s *Syncer) Page(ctx context.Context, next string, apply func(context.Context, *unit) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	u := &unit{tx: tx, source: s.source, gen: s.gen}
	defer func() { _ = tx.Rollback() }()
	if err := apply(ctx, u); err != nil {
		return err
	}
	if err := u.seal(ctx, next); err != nil {
		return err
	}
	return tx.Commit()
}

func (u *unit) put(ctx context.Context, doc string, seq int, body string) error {
	_, err := u.tx.ExecContext(ctx, `
		INSERT INTO doc_chunk (doc, seq, body) VALUES ($1, $2, $3)
		ON CONFLICT (doc, seq) DO UPDATE SET body = EXCLUDED.body`, doc, seq, body)
	return err
}

func (u *unit) drop(ctx context.Context, doc string) error {
	_, err := u.tx.ExecContext(ctx, `DELETE FROM doc_chunk WHERE doc = $1`, doc)
	return err
}

func (u *unit) seal(ctx context.Context, next string) error {
	var gen int64
	err := u.tx.QueryRowContext(ctx,
		`SELECT generation FROM sync_cursor WHERE source = $1 FOR UPDATE`, u.source).Scan(&gen)
	if err != nil {
		return err
	}
	if gen != u.gen {
		return fmt.Errorf("generation %d: %w", gen, ErrSuperseded)
	}
	_, err = u.tx.ExecContext(ctx,
		`UPDATE sync_cursor SET position = $2 WHERE source = $1 AND generation = $3`, u.source, next, u.gen)
	return err
}

// Replace is one page that holds one document.
func (s *Syncer) Replace(ctx context.Context, next, doc string, parts []string) error {
	return s.Page(ctx, next, func(ctx context.Context, u *unit) error {
		if err := u.drop(ctx, doc); err != nil {
			return err
		}
		for i, p := range parts {
			if err := u.put(ctx, doc, i, p); err != nil {
				return err
			}
		}
		return nil
	})
}
