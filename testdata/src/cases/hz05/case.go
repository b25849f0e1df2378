// Package hz05 applies schema migrations.
package hz05

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"path"
	"sort"
)

type Migrator struct {
	db    *sql.DB
	files fs.FS
}

const lockName = "schema_migrations"

// session takes the MySQL user lock on one connection and hands that very
// connection to fn. When the connection dies, lock and work die with it.
func (m *Migrator) session(ctx context.Context, fn func(*sql.Conn) error) (err error) {
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var got sql.NullInt64
	if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, 30)", lockName).Scan(&got); err != nil {
		return fmt.Errorf("get lock: %w", err)
	}
	if got.Int64 != 1 {
		return fmt.Errorf("lock %s is held by another process", lockName)
	}
	defer func() {
		_, uerr := conn.ExecContext(context.WithoutCancel(ctx), "SELECT RELEASE_LOCK(?)", lockName)
		if err == nil {
			err = uerr
		}
	}()
	return fn(conn)
}

func (m *Migrator) Up(ctx context.Context) error {
	names, err := fs.Glob(m.files, "*.up.sql")
	if err != nil {
		return err
	}
	sort.Strings(names)
	return m.session(ctx, func(c *sql.Conn) error {
		var current string
		err := c.QueryRowContext(ctx, "SELECT COALESCE(MAX(version), '') FROM schema_migrations").Scan(&current)
		if err != nil {
			return err
		}
		for _, n := range names {
			version := path.Base(n)
			if version <= current {
				continue
			}
			if err := m.apply(ctx, c, n, version); err != nil {
				return fmt.Errorf("%s: %w", n, err)
			}
		}
		return nil
	})
}

func (m *Migrator) apply(ctx context.Context, c *sql.Conn, name, version string) error {
	body, err := fs.ReadFile(m.files, name)
	if err != nil {
		return err
	}
	if _, err := c.ExecContext(ctx, string(body)); err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, "INSERT INTO schema_migrations (version, applied_at) VALUES (?, NOW())", version)
	return err
}
