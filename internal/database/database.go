// Package database answers one question: how is a database reached that a command line
// names? No error of it has the password in it.
package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	gomysql "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/fencelint/fence/internal/sqlstmt"
)

// patience is how long a connection is waited for, unless the DSN says.
const patience = 10 * time.Second

// A DSNError says that a DSN cannot be meant. It quotes nothing of it, which may hold a
// password.
type DSNError struct {
	Problem, Fix string
}

func (e *DSNError) Error() string { return e.Problem + ": " + e.Fix }

// An Access is what a database is opened for.
type Access int

// The accesses.
const (
	ReadOnly Access = iota
	ReadWrite
)

var openers = map[sqlstmt.Dialect]func(dsn, dir string, access Access) (*sql.DB, error){
	sqlstmt.Postgres: openPostgres,
	sqlstmt.MariaDB:  openMySQL,
	sqlstmt.MySQL:    openMySQL,
	sqlstmt.SQLite:   openSQLite,
}

// mysqlDSN is what go-sql-driver calls the network and the address.
var mysqlDSN = regexp.MustCompile(`(^|@)(tcp|tcp4|tcp6|unix)\(`)

// DialectOf returns the dialect that a DSN looks like: PostgreSQL for its URL, MariaDB for
// what has the address of a server in parentheses, else SQLite.
func DialectOf(dsn string) sqlstmt.Dialect {
	switch {
	case strings.HasPrefix(dsn, "postgres://"), strings.HasPrefix(dsn, "postgresql://"):
		return sqlstmt.Postgres
	case mysqlDSN.MatchString(dsn):
		return sqlstmt.MariaDB
	}
	return sqlstmt.SQLite
}

// Open returns a database: postgres://..., a DSN of go-sql-driver, or for SQLite a path or a
// file: URI, which if relative counts from dir and has to exist. It does not connect yet.
// One opened to be read cannot be written through. A DSN that cannot be meant is a
// [*DSNError]; no error, here or later, has the password in it.
func Open(d sqlstmt.Dialect, dsn, dir string, access Access) (*sql.DB, error) {
	open, ok := openers[d]
	if !ok {
		return nil, fmt.Errorf("opening a database of dialect %s: there is no driver for it", d)
	}
	return open(dsn, dir, access)
}

func openPostgres(dsn, _ string, access Access) (*sql.DB, error) {
	// Other forms that pgx reads would take any text for a list of settings.
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		return nil, &DSNError{"the DSN of PostgreSQL has to be a URL here", "write postgres://user:password@host:5432/database"}
	}
	c, err := pgx.ParseConfig(dsn)
	if err != nil { // its text may quote the password
		return nil, &DSNError{"the DSN of PostgreSQL cannot be read", "write postgres://user:password@host:5432/database, with % and two hex digits for / ? # @ : % in the password"}
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = patience
	}
	// No named statements: a pooler may give each transaction another connection.
	c.DefaultQueryExecMode = pgx.QueryExecModeExec
	secrets := []string{c.Password}
	if u, err := url.Parse(dsn); err == nil {
		_, encoded, _ := strings.Cut(u.User.String(), ":")
		secrets = append(secrets, encoded)
	}
	return sql.OpenDB(&connector{stdlib.GetConnector(*c), access.statement("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"), secrets}), nil
}

func openMySQL(dsn, _ string, access Access) (*sql.DB, error) {
	bad := &DSNError{"the DSN of MariaDB or MySQL cannot be read", "write user:password@tcp(host:3306)/database"}
	c, err := gomysql.ParseDSN(dsn)
	if err != nil {
		return nil, bad
	}
	c.MultiStatements = false
	c.Logger = &gomysql.NopLogger{} // it would print beside the errors, as they are
	if c.Timeout == 0 {
		c.Timeout = patience
	}
	mysql, err := gomysql.NewConnector(c)
	if err != nil {
		return nil, bad
	}
	return sql.OpenDB(&connector{mysql, access.statement("SET SESSION TRANSACTION READ ONLY"), []string{c.Passwd}}), nil
}

// kept are the parameters of a file: URI that say how the file is reached.
var kept = []string{"vfs", "cache", "immutable", "nolock", "psow"}

func openSQLite(dsn, dir string, access Access) (*sql.DB, error) {
	path, query, err := sqliteFile(dsn)
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // SQLite would make one
		return nil, fmt.Errorf("there is no file %s", path)
	case err != nil:
		return nil, fmt.Errorf("looking for the database: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("looking for the database: %w", err)
	}
	if path = filepath.ToSlash(path); !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/app.db
	}
	maps.DeleteFunc(query, func(key string, _ []string) bool { return !slices.Contains(kept, key) })
	query.Set("mode", "rw")
	query.Set("_txlock", "immediate")
	query["_pragma"] = []string{fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds())}
	if access == ReadOnly {
		query.Set("mode", "ro")
		query.Del("_txlock")
		query["_pragma"] = append(query["_pragma"], "query_only(1)")
	}
	return sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, OmitHost: true, RawQuery: query.Encode()}).String())
}

// sqliteFile is the path in a DSN of SQLite, and the parameters of a URI.
func sqliteFile(dsn string) (path string, query url.Values, err error) {
	path, query = dsn, url.Values{}
	if strings.Contains(dsn, "://") && !strings.HasPrefix(dsn, "file:") { // and may hold a password
		return "", nil, &DSNError{"fence.yaml says that the dialect is sqlite, whose DSN is a path", "write the path alone, or the dialect of the database"}
	}
	if strings.HasPrefix(dsn, "file:") {
		u, err := url.Parse(dsn)
		if err != nil || u.Host != "" && u.Host != "localhost" {
			return "", nil, &DSNError{"the file: URI cannot be read", "write file:path/to/app.db or file:///path/to/app.db"}
		}
		path, query = u.Path, u.Query()
		if u.Opaque != "" { // relative
			if path, err = url.PathUnescape(u.Opaque); err != nil {
				return "", nil, &DSNError{"the file: URI cannot be read", "write % as %25"}
			}
		}
	}
	if path == "" || strings.Contains(path, ":memory:") || query.Get("mode") == "memory" {
		return "", nil, &DSNError{"the DSN names no file", "write the path of one; a database in memory is another for each process"}
	}
	return path, query, nil
}

// statement is what a session begins with: nothing if it may write.
func (a Access) statement(readOnly string) string {
	if a == ReadWrite {
		return ""
	}
	return readOnly
}

// A connector begins sessions with a statement, and keeps secrets out of errors.
type connector struct {
	driver.Connector
	statement string
	secrets   []string
}

// Connect begins a session.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, c.scrub(ctx, err)
	}
	if c.statement == "" {
		return conn, nil
	}
	exec, ok := conn.(driver.ExecerContext)
	if !ok {
		_ = conn.Close()
		return nil, errors.New("the driver runs no statement on a new connection")
	}
	if _, err := exec.ExecContext(ctx, c.statement, nil); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("making the session one that only reads: %w", c.scrub(ctx, err))
	}
	return conn, nil
}

// scrub is an error without secrets, in one line. It wraps nothing: what it would wrap has
// them.
func (c *connector) scrub(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var lines []string
	for line := range strings.Lines(err.Error()) { // of pgx; one address may come twice
		line = strings.TrimSpace(line)
		if !slices.ContainsFunc(lines, func(had string) bool { return strings.HasSuffix(had, line) }) {
			lines = append(lines, line)
		}
	}
	text := strings.Join(lines, " ")
	for _, s := range c.secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "***")
		}
	}
	return errors.New(text)
}
