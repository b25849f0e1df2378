package hn33

import (
	"context"
	"database/sql"
	"fmt"
)

type Step struct {
	Version int
	SQL     string
}

// Upgrade is a plain schema upgrade by version number.
func Upgrade(ctx context.Context, db *sql.DB, steps []Step) error {
	var cur int
	if err := db.QueryRowContext(ctx, `SELECT version FROM schema_version`).Scan(&cur); err != nil {
		return err
	}
	for _, s := range steps {
		if s.Version <= cur {
			continue
		}
		if _, err := db.ExecContext(ctx, s.SQL); err != nil {
			return fmt.Errorf("step %d: %w", s.Version, err)
		}
		if _, err := db.ExecContext(ctx, `UPDATE schema_version SET version = ?`, s.Version); err != nil {
			return err
		}
	}
	return nil
}
