package xn11

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
)

type migration struct {
	version int
	up      string
}

// migrations in order; each is sent as one simple query.
var migrations = []migration{
	{1, `CREATE TABLE disk_image (id bigint PRIMARY KEY, state text)`},
	{2, `ALTER TABLE disk_image ADD COLUMN fence bigint NOT NULL DEFAULT 0;
	     UPDATE disk_image SET state = 'ready' WHERE state IS NULL;
	     ALTER TABLE disk_image ALTER COLUMN state SET NOT NULL;`},
	{3, `ALTER TABLE disk_image ADD COLUMN bytes bigint;
	     UPDATE disk_image SET bytes = 0;
	     ALTER TABLE disk_image ALTER COLUMN bytes SET NOT NULL;
	     ALTER TABLE disk_image ALTER COLUMN bytes SET DEFAULT 0;`},
}

// Migrate brings the database to the newest version.
func Migrate(ctx context.Context, db *sql.DB, from int) error {
	for _, m := range migrations {
		if m.version <= from {
			continue
		}
		if _, err := db.ExecContext(ctx, m.up); err != nil {
			return fmt.Errorf("migration %d: %w", m.version, err)
		}
	}
	return nil
}

var ErrStale = errors.New("image is built by a newer node")

type Images struct{ db *sql.DB }

// SetReady is what the running program does.
func (i *Images) SetReady(ctx context.Context, id, bytes, token int64) error {
	res, err := i.db.ExecContext(ctx,
		`UPDATE disk_image SET state = 'ready', bytes = $2, fence = $3 WHERE id = $1 AND fence <= $3`, id, bytes, token)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrStale)
	}
	return nil
}

// Seed empties and fills the table for the tests of other packages.
func Seed(tb testing.TB, db *sql.DB, ids ...int64) {
	tb.Helper()
	if _, err := db.Exec(`TRUNCATE disk_image`); err != nil {
		tb.Fatal(err)
	}
	for _, id := range ids {
		if _, err := db.Exec(`INSERT INTO disk_image (id, state) VALUES ($1, 'raw')
			ON CONFLICT (id) DO UPDATE SET state = EXCLUDED.state`, id); err != nil {
			tb.Fatal(err)
		}
	}
}
