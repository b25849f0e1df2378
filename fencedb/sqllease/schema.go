package sqllease

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fencelint/fence/fencedb"
)

// SchemaVersion is the version of the tables that this package needs.
const SchemaVersion = 1

//go:embed migrations
var files embed.FS

// Migrations returns the files that make the tables, NNNN_*.sql, whose number is the version
// that they lead to, for a migration tool of your own: they are goose's as they are. The last
// statement of each notes its version, which a coordinator looks at. A statement ends in ";"
// at the end of a line. The error says that there is no such dialect.
func Migrations(d fencedb.Dialect) (fs.FS, error) {
	if dialects[d] == nil {
		return nil, refused("sqllease: no dialect is called %q", string(d))
	}
	return fs.Sub(files, path.Join("migrations", directory(d)))
}

// directory is where a dialect's migrations are.
func directory(d fencedb.Dialect) string {
	if d == fencedb.MySQL {
		return string(fencedb.MariaDB) // the same statements
	}
	return string(d)
}

// Schema returns the text of all files of [Migrations], in their order.
func Schema(d fencedb.Dialect) (string, error) {
	steps, err := migrationsOf(d)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, s := range steps {
		texts = append(texts, s.text)
	}
	return strings.Join(texts, "\n"), nil
}

// A migration leads to a version.
type migration struct {
	version    int
	text       string
	statements []string
}

func migrationsOf(d fencedb.Dialect) ([]migration, error) {
	dir, err := Migrations(d)
	if err != nil {
		return nil, err
	}
	paths, err := fs.Glob(dir, "*.sql") // sorted
	if err != nil {
		return nil, fmt.Errorf("sqllease: reading the migrations: %w", err)
	}
	var all []migration
	for _, p := range paths {
		text, err := fs.ReadFile(dir, p)
		if err != nil {
			return nil, fmt.Errorf("sqllease: reading the migrations: %w", err)
		}
		digits, _, _ := strings.Cut(p, "_")
		version, err := strconv.Atoi(digits)
		if err != nil {
			return nil, fmt.Errorf("sqllease: the migration %s has no version: %w", p, err)
		}
		all = append(all, migration{version, string(text), splitStatements(string(text))})
	}
	return all, nil
}

// splitStatements returns the statements of a file, without comments.
func splitStatements(text string) []string {
	var code strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			code.WriteString(line)
		}
	}
	all := strings.Split(code.String(), ";\n")
	return slices.DeleteFunc(all, func(s string) bool { return strings.TrimSpace(s) == "" })
}

var tableWord = regexp.MustCompile(`\b(?:` + strings.Join(tables, "|") + `)\b`)

// placed is a statement of a file with the tables where this coordinator has them.
func (c *Coordinator) placed(statement string) string {
	return tableWord.ReplaceAllStringFunc(statement, func(t string) string {
		return c.tables.Replace(strings.Replace(t, "fence_", "@", 1))
	})
}

// version reads the version of the tables, 0 if there are none.
func (c *Coordinator) version(ctx context.Context, x fencedb.Execer) (int, error) {
	var v int
	err := c.row(ctx, x, c.tables.Replace(versionText), nil, &v)
	if err != nil && faultOf(c.name, err) == missing {
		return 0, nil
	}
	return v, err
}

// Migrate makes the tables, or brings them to [SchemaVersion]. It may be called again, and by
// several processes at once: one does the work and the others wait for it. Tables of a newer
// version are left alone, which is a [*SchemaError]. It needs the right to make tables only
// where some are missing.
//
// It is one transaction on PostgreSQL and SQLite. On MariaDB and MySQL, whose CREATE TABLE
// commits, the files can be run again from their beginning.
func (c *Coordinator) Migrate(ctx context.Context) error {
	steps, err := migrationsOf(c.name)
	if err != nil {
		return err
	}
	conn, err := c.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("sqllease: migrating: no connection: %w", err)
	}
	defer func() { _ = conn.Close() }() // gives it back
	have, err := c.version(ctx, conn)
	if err != nil {
		return fmt.Errorf("sqllease: reading the version of the tables: %w", err)
	}
	if have == SchemaVersion {
		return nil
	}
	if c.dialect.inline { // whose DDL is in no transaction
		err = c.alone(ctx, conn, func() error { return c.migrate(ctx, conn, steps) })
	} else {
		err = c.inTx(ctx, conn, func(tx *sql.Tx) error {
			if c.name == fencedb.Postgres { // SQLite has one writer
				if _, err := c.exec(ctx, tx, `SELECT pg_advisory_xact_lock($1)`, c.migrationLock()); err != nil {
					return err
				}
			}
			return c.migrate(ctx, tx, steps)
		})
	}
	var schema *SchemaError
	if err != nil && !errors.As(err, &schema) {
		return fmt.Errorf("sqllease: migrating: %w", err)
	}
	return err
}

// migrate runs what is missing. Nobody else does so meanwhile.
func (c *Coordinator) migrate(ctx context.Context, x fencedb.Execer, steps []migration) error {
	// The first file begins with the table of the versions. It is there, or is made: an error
	// about a table that is missing would end a transaction. In SQLite it also makes this
	// transaction the writer.
	if _, err := x.ExecContext(ctx, c.placed(steps[0].statements[0])); err != nil {
		return err
	}
	have, err := c.version(ctx, x)
	if err != nil {
		return err
	}
	if have > SchemaVersion {
		return &SchemaError{Dialect: c.name, Have: have, Want: SchemaVersion}
	}
	for _, m := range steps {
		if m.version <= have {
			continue
		}
		for _, statement := range m.statements {
			if _, err := x.ExecContext(ctx, c.placed(statement)); err != nil {
				return fmt.Errorf("to version %d: %w", m.version, err)
			}
		}
	}
	return nil
}

// migrationLock is the same number for all who migrate the same schema.
func (c *Coordinator) migrationLock() int64 {
	h := fnv.New64a()
	h.Write([]byte("sqllease.Migrate\x00" + c.schema))
	return int64(h.Sum64() >> 1)
}

// alone runs fn while this connection has the server's lock by the schema's name.
func (c *Coordinator) alone(ctx context.Context, conn *sql.Conn, fn func() error) (err error) {
	// Names of locks are the server's and short, so the database's name is hashed.
	const key = `CONCAT('fence_', SHA1(COALESCE($1, DATABASE())))`
	var schema any
	if c.schema != "" {
		schema = c.schema
	}
	for locked := 0; locked == 0; { // GET_LOCK waits for ten seconds at a time
		var got sql.NullInt64
		if err := c.row(ctx, conn, `SELECT GET_LOCK(`+key+`, 10)`, []any{schema}, &got); err != nil {
			return fmt.Errorf("waiting for another migration: %w", err)
		}
		locked = int(got.Int64)
		if !got.Valid {
			return errors.New("waiting for another migration: the server gave no lock")
		}
	}
	defer func() {
		_, free := c.exec(context.WithoutCancel(ctx), conn, `DO RELEASE_LOCK(`+key+`)`, schema)
		err = errors.Join(err, free)
	}()
	return fn()
}

// check returns the statements once the tables were found to be right: it looks when it is
// first called, not each time.
func (c *Coordinator) check(ctx context.Context, conn *sql.Conn) (*statements, error) {
	if s := c.ready.Load(); s != nil {
		return s, nil
	}
	have, err := c.version(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("reading the version of the tables: %w", err)
	}
	if have != SchemaVersion {
		return nil, &SchemaError{Dialect: c.name, Have: have, Want: SchemaVersion}
	}
	place := `NULL`
	switch c.name {
	case fencedb.Postgres:
		if err := c.checkLogged(ctx, conn); err != nil {
			return nil, err
		}
		place = c.postgresPlace(ctx, conn)
	case fencedb.MariaDB, fencedb.MySQL:
		if place, err = c.innodbPlace(ctx, conn); err != nil {
			return nil, fmt.Errorf("reading the identity of the server: %w", err)
		}
	case fencedb.SQLite:
		if err := c.checkSQLite(ctx, conn); err != nil {
			return nil, err
		}
	}
	s := statementsOf(c.name, c.tables, place)
	c.ready.Store(&s)
	return &s, nil
}

// checkLogged refuses tables that a crash empties.
func (c *Coordinator) checkLogged(ctx context.Context, conn *sql.Conn) error {
	args := make([]any, len(tables))
	marks := make([]string, len(tables))
	for i, t := range tables {
		args[i], marks[i] = c.placed(t), "to_regclass("+parameter(i+1)+")"
	}
	var names []string
	text := `SELECT relname FROM pg_class WHERE relpersistence <> 'p' AND oid IN (` + strings.Join(marks, ", ") + `) ORDER BY relname`
	err := c.rows(ctx, conn, text, args, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	})
	if err != nil {
		return fmt.Errorf("looking at the tables: %w", err)
	}
	if len(names) == 0 {
		return nil
	}
	return &SchemaError{Dialect: c.name, Have: SchemaVersion, Want: SchemaVersion,
		Problem: fmt.Sprintf("%s would be empty after a crash, and tokens would be granted again: ALTER TABLE ... SET LOGGED", strings.Join(names, ", "))}
}

// postgresPlace is the system and its timeline, which changes when a standby is promoted. A
// server that does not tell them is in no known place: to make do with a part would look
// like a move to who sees the whole.
func (c *Coordinator) postgresPlace(ctx context.Context, conn *sql.Conn) string {
	const place = `(SELECT system_identifier::text || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) FROM pg_control_system())`
	var now sql.NullString
	if err := c.row(ctx, conn, `SELECT `+place, nil, &now); err != nil {
		return `NULL::text`
	}
	return place
}

// innodbPlace is the identity of the server. In a cluster that writes everywhere each grant
// may come from another server, so it is none there.
func (c *Coordinator) innodbPlace(ctx context.Context, conn *sql.Conn) (string, error) {
	have := make(map[string]string)
	err := c.rows(ctx, conn, `SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_uid', 'server_uuid', 'wsrep_on', 'group_replication_single_primary_mode')`, nil,
		func(rows *sql.Rows) error {
			var name, value string
			err := rows.Scan(&name, &value)
			have[strings.ToLower(name)] = value
			return err
		})
	if err != nil {
		return "", err
	}
	if have["wsrep_on"] == "ON" || have["group_replication_single_primary_mode"] == "OFF" {
		return `NULL`, nil
	}
	for _, name := range []string{"server_uid", "server_uuid"} {
		if have[name] != "" {
			return `@@global.` + name, nil
		}
	}
	return `@@global.server_id`, nil
}

// checkSQLite refuses versions without RETURNING.
func (c *Coordinator) checkSQLite(ctx context.Context, conn *sql.Conn) error {
	var version string
	if err := c.row(ctx, conn, `SELECT sqlite_version()`, nil, &version); err != nil {
		return fmt.Errorf("reading the version of SQLite: %w", err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return fmt.Errorf("reading the version of SQLite, %q: %w", version, err)
	}
	if major < 3 || major == 3 && minor < 35 {
		return refused("sqllease: SQLite is of version %s, and its UPDATE has no RETURNING: 3.35 or later is needed", version)
	}
	return nil
}
