package storetest

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/sqllease"
)

func TestSQLLeaseMigrate(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		db.SetMaxOpenConns(20)
		leases := db.noLeases(t)
		refused := func(c *sqllease.Coordinator, have int, advice string) {
			t.Helper()
			var wrong *sqllease.SchemaError
			for what, err := range map[string]error{
				"acquire": second(c.Acquire(t.Context(), ask("r", time.Minute))),
				"list":    second(c.List(t.Context())),
			} {
				if !errors.As(err, &wrong) || wrong.Have != have || wrong.Want != sqllease.SchemaVersion || wrong.Dialect != db.dialect ||
					!errors.Is(err, fencedb.ErrRefused) || errors.Is(err, fencedb.ErrNotSent) || !strings.Contains(err.Error(), advice) {
					t.Errorf("%s: %v, want a SchemaError with version %d that says %q", what, err, have, advice)
				}
			}
		}
		c := leases.open()
		refused(c, 0, "Migrate")

		// Several processes at once, and each again.
		const processes = 8
		failed := make(chan error, processes)
		for range processes {
			go func() {
				c := leases.open()
				failed <- errors.Join(c.Migrate(t.Context()), c.Migrate(t.Context()))
			}()
		}
		for range processes {
			if err := <-failed; err != nil {
				t.Fatal(err)
			}
		}
		first := mustAcquire(t, c, ask("r", time.Minute)) // the coordinator has not given up
		if err := c.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if o, err := c.Observe(t.Context(), "r"); err != nil || o.Token != first.Token {
			t.Errorf("%+v, %v: a migration has changed the lease", o, err)
		}
		var versions int
		if err := db.QueryRow("SELECT COUNT(*) FROM " + leases.table("fence_schema")).Scan(&versions); err != nil || versions != sqllease.SchemaVersion {
			t.Errorf("%d versions are noted, %v", versions, err)
		}

		// A newer version is left alone.
		if _, err := db.Exec("UPDATE " + leases.table("fence_schema") + " SET version = 99"); err != nil {
			t.Fatal(err)
		}
		other := leases.open()
		refused(other, 99, "Update this program")
		var wrong *sqllease.SchemaError
		if err := other.Migrate(t.Context()); !errors.As(err, &wrong) || wrong.Have != 99 {
			t.Errorf("migrating it: %v, want a SchemaError", err)
		}
		// It is looked at once, not with every request.
		if _, err := c.Renew(t.Context(), fencedb.RenewRequest{Token: first.Token, TTL: time.Minute}); err != nil {
			t.Errorf("a holder while another migrates: %v", err)
		}

		// Tables that disappear are found out, and named.
		for _, table := range []string{"fence_leases", "fence_namespaces", "fence_audit", "fence_rejections", "fence_schema"} {
			if _, err := db.Exec("DROP TABLE " + leases.table(table)); err != nil {
				t.Fatal(err)
			}
		}
		refused(c, 0, "Migrate")
		if err := c.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		mustAcquire(t, leases.open(), ask("r", time.Minute))
		db.idle(t)
	})
}

// A migration that was cut off anywhere can be run again.
func TestSQLLeaseMigrateCutOff(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		for stop := int64(1); ; stop++ {
			leases := db.noLeases(t)
			if db.dialect == fencedb.SQLite {
				db = openSQLite(t)
				leases.db = db
			}
			other, tap := db.tapped(t)
			cut := errors.New("cut off")
			tap.before = func(string) error {
				if tap.steps.Load() >= stop {
					return cut
				}
				return nil
			}
			err := leases.on(other).Migrate(t.Context())
			other.Close()
			if err == nil {
				if stop < 8 {
					t.Errorf("a migration of %d steps", stop)
				}
				return
			}
			if !errors.Is(err, cut) {
				t.Errorf("step %d: %v", stop, err)
			}
			if err := leases.open().Migrate(t.Context()); err != nil {
				t.Fatalf("again after step %d: %v", stop, err)
			}
			mustAcquire(t, leases.open(), ask("r", time.Minute))
		}
	})
}

// The files are for other tools: one runs their statements one by one.
func TestSQLLeaseMigrationFiles(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		files, err := sqllease.Migrations(db.dialect)
		if err != nil {
			t.Fatal(err)
		}
		names, err := fs.Glob(files, "*.sql")
		if err != nil || len(names) != sqllease.SchemaVersion {
			t.Fatalf("%v, %v: version %d", names, err, sqllease.SchemaVersion)
		}
		whole, err := sqllease.Schema(db.dialect)
		if err != nil {
			t.Fatal(err)
		}
		leases := db.noLeases(t)
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if use := map[fencedb.Dialect]string{fencedb.Postgres: "SET search_path = ", fencedb.MariaDB: "USE ", fencedb.MySQL: "USE "}[db.dialect]; use != "" {
			if _, err := conn.ExecContext(t.Context(), use+leases.schema); err != nil {
				t.Fatal(err)
			}
		}
		for i, name := range names {
			text, err := fs.ReadFile(files, name)
			if err != nil || !strings.HasPrefix(name, fmt.Sprintf("%04d_", i+1)) || !strings.Contains(whole, string(text)) || !strings.HasPrefix(string(text), "-- +goose Up\n") {
				t.Fatalf("%s: %v", name, err)
			}
			for statement := range strings.SplitSeq(string(text), ";\n") {
				if strings.TrimSpace(statement) == "" {
					continue
				}
				if _, err := conn.ExecContext(t.Context(), statement); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
		}
		mustAcquire(t, leases.open(), ask("r", time.Minute))
		// With its setting the connection is not to be used again.
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	})
	if _, err := sqllease.Migrations("oracle"); !errors.Is(err, fencedb.ErrRefused) {
		t.Errorf("%v, want ErrRefused", err)
	}
	if _, err := sqllease.Schema("oracle"); !errors.Is(err, fencedb.ErrRefused) {
		t.Errorf("%v, want ErrRefused", err)
	}
}

// Tables that a crash empties are refused.
func TestSQLLeaseUnlogged(t *testing.T) {
	eachServer(t, func(t *testing.T, db database) {
		if db.dialect != fencedb.Postgres {
			t.Skip("only PostgreSQL has it: scripts/services go test ./fencedb/storetest")
		}
		leases := db.leases(t)
		if _, err := db.Exec("ALTER TABLE " + leases.table("fence_namespaces") + " SET UNLOGGED"); err != nil {
			t.Fatal(err)
		}
		_, err := leases.open().Acquire(t.Context(), ask("r", time.Minute))
		var wrong *sqllease.SchemaError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "fence_namespaces") || !errors.Is(err, fencedb.ErrRefused) {
			t.Errorf("%v, want a SchemaError that names the table", err)
		}
	})
}

// A database that lives elsewhere than its counter was drawn last starts a new incarnation,
// once.
func TestSQLLeasePlace(t *testing.T) {
	eachServer(t, func(t *testing.T, db database) {
		leases := db.leases(t)
		c := leases.open()
		namespaces := leases.table("fence_namespaces")
		before := mustAcquire(t, c, ask("a", time.Minute))
		var place string
		if err := db.QueryRow("SELECT place FROM " + namespaces).Scan(&place); err != nil || place == "" {
			t.Fatalf("place %q, %v", place, err)
		}
		if db.dialect == fencedb.Postgres && !strings.HasSuffix(place, "/00000001") {
			t.Errorf("place %q, want the system and the timeline", place)
		}
		for _, step := range []struct {
			place       string // by hand; as it is if empty
			incarnation int
		}{{"", 0}, {"'elsewhere'", 1}, {"", 1}, {"NULL", 1}, {"", 1}, {"'another'", 2}} {
			if step.place != "" {
				if _, err := db.Exec("UPDATE " + namespaces + " SET place = " + step.place); err != nil {
					t.Fatal(err)
				}
			}
			g := mustAcquire(t, c, ask(fmt.Sprintf("r-%d", before.Token.Counter()), time.Minute))
			if g.Token.Incarnation() != step.incarnation || g.Token.Value() <= before.Token.Value() {
				t.Errorf("after place %s: %v, of incarnation %d, want %d", step.place, g.Token, g.Token.Incarnation(), step.incarnation)
			}
			before = g
		}
		var after string
		if err := db.QueryRow("SELECT place FROM " + namespaces).Scan(&after); err != nil || after != place {
			t.Errorf("place %q, %v, want %q again", after, err, place)
		}
	})
}

// A role that may not ask where the database lives grants leases all the same, and moves
// nothing on.
func TestSQLLeasePlaceForbidden(t *testing.T) {
	eachServer(t, func(t *testing.T, db database) {
		if db.dialect != fencedb.Postgres {
			t.Skip("only PostgreSQL has it: scripts/services go test ./fencedb/storetest")
		}
		leases := db.leases(t)
		known := mustAcquire(t, leases.open(), ask("a", time.Minute))
		name := "role_" + leases.schema
		for _, text := range []string{
			"CREATE ROLE " + name + " LOGIN", "GRANT USAGE ON SCHEMA " + leases.schema + " TO " + name,
			"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA " + leases.schema + " TO " + name,
			"REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC",
		} {
			if _, err := db.Exec(text); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() {
			for _, text := range []string{"GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC", "DROP OWNED BY " + name, "DROP ROLE " + name} {
				if _, err := db.Exec(text); err != nil {
					t.Error(err)
				}
			}
		})
		own := database{open(t, "pgx", strings.Replace(db.source, "fence@", name+"@", 1)), db.dialect, db.source}
		c := leases.on(own)
		if err := c.Migrate(t.Context()); err != nil { // there is nothing to do, and it may not
			t.Error(err)
		}
		g := mustAcquire(t, c, ask("b", time.Minute))
		if g.Token.Value() != known.Token.Value()+1 || g.Transaction == "" {
			t.Errorf("%+v after %v", g, known.Token)
		}
		if next := mustAcquire(t, leases.open(), ask("c", time.Minute)); next.Token.Incarnation() != 0 {
			t.Errorf("%v: a role that sees less counted as a move", next.Token)
		}
	})
}

// The transaction of a grant is named where the database names it.
func TestSQLLeaseTransaction(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		leases := db.leases(t)
		g := mustAcquire(t, leases.open(), ask("r", time.Minute))
		if db.dialect != fencedb.Postgres {
			if g.Transaction != "" {
				t.Errorf("transaction %q, which has no name", g.Transaction)
			}
			return
		}
		var xmin string
		if err := db.QueryRowContext(context.Background(), "SELECT xmin FROM "+leases.table("fence_leases")).Scan(&xmin); err != nil || xmin != g.Transaction {
			t.Errorf("transaction %q, and the row's is %q, %v", g.Transaction, xmin, err)
		}
	})
}
