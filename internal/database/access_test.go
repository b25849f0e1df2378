package database_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/fencelint/fence/internal/database"
	"github.com/fencelint/fence/internal/sqlstmt"
)

func TestDialectOf(t *testing.T) {
	for dsn, want := range map[string]sqlstmt.Dialect{
		"postgres://app:secret@db/orders":       sqlstmt.Postgres,
		"postgresql://db/orders":                sqlstmt.Postgres,
		"app:secret@tcp(db:3306)/orders":        sqlstmt.MariaDB,
		"app@unix(/run/mysqld/mysqld.sock)/app": sqlstmt.MariaDB,
		"app.db":                                sqlstmt.SQLite,
		"/var/lib/app (old)/app.db":             sqlstmt.SQLite,
		"file:app.db?cache=shared":              sqlstmt.SQLite,
	} {
		if got := database.DialectOf(dsn); got != want {
			t.Errorf("%s: %v, want %v", dsn, got, want)
		}
	}
}

func TestAccess(t *testing.T) {
	dir := t.TempDir()
	if _, err := database.Open(sqlstmt.SQLite, "app.db", dir, database.ReadWrite); err == nil {
		t.Error("a database was made")
	}
	made := filepath.Join(dir, "app.db")
	create(t, made)
	for _, test := range []struct {
		access database.Access
		writes bool
	}{{database.ReadOnly, false}, {database.ReadWrite, true}} {
		db, err := database.Open(sqlstmt.SQLite, "app.db", dir, test.access)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec("INSERT INTO t VALUES (1)")
		if (err == nil) != test.writes {
			t.Errorf("access %d: %v", test.access, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func create(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE t (a INTEGER)"); err != nil {
		t.Fatal(err)
	}
}
