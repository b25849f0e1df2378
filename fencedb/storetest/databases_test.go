package storetest

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/fencelint/fence/fencedb"
)

// database is one that a test runs on.
type database struct {
	*sql.DB
	dialect fencedb.Dialect
	source  string // the data source
}

type server struct {
	dialect             fencedb.Dialect
	driver, source, run string
}

// servers are the databases that are tested where their data source is given; run says
// how to have one.
var servers = []server{
	{fencedb.Postgres, "pgx", "FENCE_TEST_POSTGRES", started},
	{fencedb.MariaDB, "mysql", "FENCE_TEST_MARIADB", started},
	{fencedb.MySQL, "mysql", "FENCE_TEST_MYSQL", "FENCE_TEST_MYSQL='user:password@tcp(host:3306)/database' go test ./fencedb/storetest, with a server of your own"},
}

const started = "scripts/services go test ./fencedb/storetest"

// eachDatabase runs test on SQLite and on every server.
func eachDatabase(t *testing.T, test func(t *testing.T, db database)) {
	t.Run("sqlite", func(t *testing.T) { test(t, openSQLite(t)) })
	eachServer(t, test)
}

// eachServer runs test on every server whose data source is given.
func eachServer(t *testing.T, test func(t *testing.T, db database)) {
	for _, s := range servers {
		t.Run(string(s.dialect), func(t *testing.T) {
			test(t, s.open(t))
		})
	}
}

func openSQLite(t testing.TB) database {
	// The journal in which readers do not wait for the writer, as programs choose it.
	source := "file:" + filepath.Join(t.TempDir(), "test.db") + "?_pragma=journal_mode(wal)&_pragma=busy_timeout(20000)&_txlock=immediate"
	return database{open(t, "sqlite", source), fencedb.SQLite, source}
}

func open(t testing.TB, driver, source string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

// open opens a server, and skips the test if its data source is not given.
func (s server) open(t testing.TB) database {
	t.Helper()
	source := os.Getenv(s.source)
	if source == "" {
		t.Skipf("%s names no %s server: %s", s.source, s.dialect, s.run)
	}
	return database{open(t, s.driver, source), s.dialect, source}
}

var tables atomic.Int64

// name returns a name for a table that nobody else uses, and drops the table in the end.
func (db database) name(t *testing.T, prefix string) string {
	t.Helper()
	name := fmt.Sprintf("%s_%d_%d", prefix, os.Getpid(), tables.Add(1))
	quoted, err := db.dialect.Quote(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := db.Exec("DROP TABLE IF EXISTS " + quoted); err != nil {
			t.Error(err)
		}
	})
	return name
}

// guards makes a table of guard rows.
func (db database) guards(t *testing.T, opts ...fencedb.GuardTableOption) *fencedb.GuardTable {
	t.Helper()
	g, err := fencedb.NewGuardTable(db.dialect, append(opts, fencedb.InTable(db.name(t, "guards")))...)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Create(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return g
}
