package migrate_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/fencelint/fence/gen/migrate"
	"github.com/fencelint/fence/gen/plan"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// database is one that a test runs on.
type database struct {
	*sql.DB
	t       *testing.T
	dialect sqlstmt.Dialect
}

// servers are the databases that are tested where their data source is given.
var servers = []struct {
	dialect          sqlstmt.Dialect
	driver, source   string
	options, howToDo string
}{
	{sqlstmt.Postgres, "pgx", "FENCE_TEST_POSTGRES", "", started},
	{sqlstmt.MariaDB, "mysql", "FENCE_TEST_MARIADB", "?multiStatements=true", started},
	{sqlstmt.MySQL, "mysql", "FENCE_TEST_MYSQL", "?multiStatements=true", "FENCE_TEST_MYSQL='user:password@tcp(host:3306)/database' go test ./gen/migrate, with a server of your own"},
}

const started = "scripts/services go test ./gen/..."

func eachDatabase(t *testing.T, test func(t *testing.T, db database)) {
	t.Run("sqlite", func(t *testing.T) {
		source := "file:" + filepath.Join(t.TempDir(), "test.db") + "?_pragma=journal_mode(wal)&_pragma=busy_timeout(20000)&_txlock=immediate"
		test(t, open(t, sqlstmt.SQLite, "sqlite", source))
	})
	for _, s := range servers {
		t.Run(s.dialect.String(), func(t *testing.T) {
			source := os.Getenv(s.source)
			if source == "" {
				t.Skipf("%s names no %s server: %s", s.source, s.dialect, s.howToDo)
			}
			test(t, open(t, s.dialect, s.driver, source+s.options))
		})
	}
}

func open(t *testing.T, d sqlstmt.Dialect, driver, source string) database {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return database{db, t, d}
}

func (db database) must(query string, args ...any) {
	db.t.Helper()
	if _, err := db.ExecContext(db.t.Context(), query, args...); err != nil {
		db.t.Fatalf("%v\n%s", err, query)
	}
}

var prefixes atomic.Int64

// prefix is for names of tables that nobody else uses. The tables are dropped in the end.
func (db database) prefix(tables ...string) string {
	prefix := fmt.Sprintf("migrate_%d_%d_", os.Getpid(), prefixes.Add(1))
	db.t.Cleanup(func() {
		for _, t := range tables {
			name := plan.Quote(db.dialect, prefix+t)
			if db.dialect == sqlstmt.Postgres {
				name += " CASCADE"
			}
			if _, err := db.Exec("DROP TABLE IF EXISTS " + name); err != nil {
				db.t.Error(err)
			}
		}
		if db.dialect == sqlstmt.Postgres {
			db.dropFunctions(prefix)
		}
	})
	return prefix
}

// dropFunctions drops what the end of a test that failed has left.
func (db database) dropFunctions(prefix string) {
	if _, err := db.Exec(`DO $$ DECLARE f text; BEGIN
FOR f IN SELECT oid::regprocedure FROM pg_proc WHERE proname LIKE 'fence_` + prefix + `%' LOOP EXECUTE 'DROP FUNCTION ' || f; END LOOP; END $$`); err != nil {
		db.t.Error(err)
	}
}

// run sends a migration as its tool would: in one go, but for goose, which cuts it, and
// the client of MySQL, which does as DELIMITER says.
func (db database) run(f migrate.Format, text string) {
	db.t.Helper()
	mysql := db.dialect == sqlstmt.MariaDB || db.dialect == sqlstmt.MySQL
	switch {
	case f == migrate.Goose:
		for _, s := range gooseStatements(text) {
			db.must(s)
		}
	case f == migrate.Plain && mysql:
		for _, s := range clientStatements(text) {
			db.must(s)
		}
	default:
		db.must(text)
	}
}

// gooseStatements cuts a text as goose does: where a line ends in a semicolon, but between
// its marks.
func gooseStatements(text string) []string {
	var all []string
	var one strings.Builder
	whole := false
	end := func() {
		if strings.TrimSpace(one.String()) != "" {
			all = append(all, one.String())
		}
		one.Reset()
	}
	for line := range strings.Lines(text) {
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "-- +goose StatementBegin":
			whole = true
		case trimmed == "-- +goose StatementEnd":
			whole = false
			end()
		case strings.HasPrefix(trimmed, "--"):
		default:
			one.WriteString(line)
			if !whole && strings.HasSuffix(trimmed, ";") {
				end()
			}
		}
	}
	end()
	return all
}

// clientStatements cuts a text as the client of MySQL does.
func clientStatements(text string) []string {
	var all []string
	var one strings.Builder
	delimiter := ";"
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if d, ok := strings.CutPrefix(trimmed, "DELIMITER "); ok {
			delimiter = d
			continue
		}
		if strings.HasPrefix(trimmed, "--") {
			continue
		}
		one.WriteString(line)
		if strings.HasSuffix(trimmed, delimiter) {
			all = append(all, strings.TrimSuffix(strings.TrimSpace(one.String()), delimiter))
			one.Reset()
		}
	}
	return all
}

// parts are the texts of the two directions.
func parts(f migrate.Format, files []migrate.File) (up, down string) {
	if len(files) == 2 {
		return string(files[0].Data), string(files[1].Data)
	}
	mark := map[migrate.Format]string{migrate.Goose: "-- +goose Down", migrate.Dbmate: "-- migrate:down"}[f]
	up, down, _ = strings.Cut(string(files[0].Data), mark)
	return up, down
}

// migrated is a database with the tables of base, and the plan of their writers.
type migrated struct {
	database
	prefix   string
	plan     *plan.Package
	up, down string
	format   migrate.Format
}

func newMigrated(t *testing.T, db database, f migrate.Format) migrated {
	t.Helper()
	db.t = t
	prefix := db.prefix("orders", "items", "ledger", "fence_guards")
	for _, s := range strings.SplitAfter(named(base, prefix), ";\n") {
		if strings.TrimSpace(s) != "" {
			db.must(s)
		}
	}
	pkg, files := newProject(t, db.dialect, named(yaml, prefix), first(f, named(base, prefix))).mustPlan()
	up, down := parts(f, files)
	return migrated{db, prefix, pkg, up, down, f}
}

// columns are those that a table of the database has.
func (m migrated) columns(table string) string {
	m.t.Helper()
	// Another text each time: drivers keep what they know about a statement.
	rows, err := m.QueryContext(m.t.Context(), fmt.Sprintf("SELECT * FROM %s%s WHERE 0 = %d", m.prefix, table, prefixes.Add(1)))
	if err != nil {
		return "none"
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		m.t.Fatal(err)
	}
	return strings.Join(names, " ")
}

// Up, down, and up again, in every format.
func TestUpAndDown(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		for _, f := range formats {
			t.Run(string(f), func(t *testing.T) {
				m := newMigrated(t, db, f)
				want := func(orders, guards string) {
					t.Helper()
					if got := m.columns("orders"); got != orders {
						t.Errorf("orders has %s, want %s", got, orders)
					}
					if got := m.columns("fence_guards"); got != guards {
						t.Errorf("fence_guards has %s, want %s", got, guards)
					}
				}
				m.must("INSERT INTO " + m.prefix + "orders VALUES (1, 'before')")
				for range 2 {
					want("id note", "none")
					m.run(f, m.up)
					want("id note fence", "resource token grant_id")
					m.run(f, m.down)
				}
				want("id note", "none")
				if n := m.functions(); n > 0 {
					t.Errorf("%d functions are left", n)
				}
				m.must("UPDATE " + m.prefix + "orders SET note = 'after'")
				m.must("DELETE FROM " + m.prefix + "orders")
			})
		}
	})
}

// functions counts those that the triggers of PostgreSQL call.
func (m migrated) functions() (n int) {
	m.t.Helper()
	if m.dialect != sqlstmt.Postgres {
		return 0
	}
	err := m.QueryRowContext(m.t.Context(), "SELECT count(*) FROM pg_proc WHERE starts_with(proname, $1)", "fence_"+m.prefix).Scan(&n)
	if err != nil {
		m.t.Fatal(err)
	}
	return n
}

// outcome is what became of a statement.
func outcome(err error) string {
	var pg *pgconn.PgError
	var my *mysql.MySQLError
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &pg) && pg.Code == migrate.StaleState && strings.HasPrefix(pg.Message, migrate.StalePrefix),
		errors.As(err, &my) && my.Number == migrate.StaleNumber && strings.HasPrefix(my.Message, migrate.StalePrefix),
		pg == nil && my == nil && strings.Contains(err.Error(), migrate.StalePrefix):
		return "stale"
	case errors.As(err, &pg) && pg.Code == migrate.UnfencedState && strings.HasPrefix(pg.Message, migrate.UnfencedPrefix):
		return "unfenced"
	}
	return err.Error()
}

// A write is one of a plan's operations, or a statement of somebody else, in which @ stands
// for the table.
type write struct {
	sql   string
	token int64
	want  string
	fence int64 // of row 1 afterwards; -1: there is none
}

// setting is the token as others than generated writers say it.
func setting(token int) string {
	return fmt.Sprintf("set_config('fence.token', '%d', true)::bigint", token)
}

var strictWrites = []write{
	{"INSERT INTO @ (id, note) VALUES (1, 'raw')", 0, "unfenced", -1},
	{"insert", 7, "done", 7},
	{"UPDATE @ SET note = 'raw'", 0, "unfenced", 7},
	{"UPDATE @ SET note = 'raw', fence = 100", 0, "unfenced", 7},
	{"DELETE FROM @", 0, "unfenced", 7},
	{"TRUNCATE @", 0, "unfenced", 7},
	{"update", 9, "done", 9},
	{"update", 8, "nothing", 9},
	{"UPDATE @ SET note = 'raw', fence = " + setting(8), 0, "stale", 9},
	{"UPDATE @ SET fence = 1, note = " + setting(9) + "::text", 0, "done", 9},
	{"DELETE FROM @ WHERE " + setting(8) + " > 0", 0, "stale", 9},
	{"upsert", 10, "done", 10},
	{"upsert", 9, "nothing", 10},
	{"delete", 9, "nothing", 10},
	{"delete", 10, "done", -1},
	{"upsert", 3, "done", 3},
	{"SELECT " + setting(5) + "; DELETE FROM @", 0, "done", -1},
}

var loweringWrites = []write{
	{"INSERT INTO @ (id, note) VALUES (2, 'raw')", 0, "done", -1},
	{"insert", 7, "done", 7},
	{"UPDATE @ SET note = 'raw'", 0, "done", 7},
	{"UPDATE @ SET note = 'raw', fence = 5 WHERE id = 1", 0, "stale", 7},
	{"REPLACE INTO @ (id, note, fence) VALUES (1, 'raw', 5)", 0, "stale", 7},
	{"REPLACE INTO @ (id, note) VALUES (1, 'raw')", 0, "stale", 7},
	{"REPLACE INTO @ (id, note, fence) VALUES (1, 'raw', 8)", 0, "done", 8},
	{"update", 9, "done", 9},
	{"update", 8, "nothing", 9},
	{"upsert", 8, "stale", 9},
	{"upsert", 10, "done", 10},
	{"delete", 9, "nothing", 10},
	{"delete", 10, "done", -1},
	{"DELETE FROM @", 0, "done", -1},
}

// What the triggers reject, and what they let pass, of statements of a plan and of others.
func TestTriggers(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		m := newMigrated(t, db, migrate.GolangMigrate)
		m.run(m.format, m.up)
		writes := loweringWrites
		if db.dialect == sqlstmt.Postgres {
			writes = strictWrites
		}
		orders := m.plan.Tables[0]
		operations := map[string]plan.Statement{"insert": orders.Insert.Statement, "update": orders.Update.Statement, "delete": orders.Delete.Statement}
		if orders.Upsert.Statement != nil {
			operations["upsert"] = *orders.Upsert.Statement
		}
		for i, w := range writes {
			query, args := named(w.sql, m.prefix+"orders"), []any(nil)
			if s, ok := operations[w.sql]; ok {
				query, args = s.String(), bound(s, w.token, map[string]any{"id": 1, "note": fmt.Sprint("note ", i)})
			}
			if w.sql == "upsert" && orders.Upsert.Statement == nil { // it is an update first
				query, args = orders.Update.String(), bound(orders.Update.Statement, w.token, map[string]any{"id": 1, "note": fmt.Sprint("note ", i)})
				if w.want == "stale" { // its own compare comes before the trigger's
					w.want = "nothing"
				}
			}
			if got := m.write(query, args...); got != w.want {
				t.Errorf("%d: %s with token %d: %s, want %s", i, w.sql, w.token, got, w.want)
			}
			if got := m.fence(); got != w.fence {
				t.Errorf("%d: after %s with token %d the fence is %d, want %d", i, w.sql, w.token, got, w.fence)
			}
		}
	})
}

// bound are the args of a statement.
func bound(s plan.Statement, token int64, values map[string]any) []any {
	var args []any
	for _, b := range s.Bound() {
		if b == "token" {
			args = append(args, token)
			continue
		}
		args = append(args, values[b])
	}
	return args
}

// write is what becomes of a statement.
func (m migrated) write(query string, args ...any) string {
	m.t.Helper()
	n, err := m.affected(query, args)
	if err != nil {
		return outcome(err)
	}
	if n == 0 {
		return "nothing"
	}
	return "done"
}

// affected is how many rows a statement has changed, or has answered with.
func (m migrated) affected(query string, args []any) (n int64, err error) {
	if !strings.Contains(query, " RETURNING ") {
		r, err := m.ExecContext(m.t.Context(), query, args...)
		if err != nil {
			return 0, err
		}
		return r.RowsAffected()
	}
	rows, err := m.QueryContext(m.t.Context(), query, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}

// fence is that of row 1; -1 if there is none.
func (m migrated) fence() int64 {
	m.t.Helper()
	var fence int64
	err := m.QueryRowContext(m.t.Context(), "SELECT fence FROM "+m.prefix+"orders WHERE id = 1").Scan(&fence)
	if errors.Is(err, sql.ErrNoRows) {
		return -1
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return fence
}

// A stale write that waits for a newer one, whose transaction began before it, sees it.
func TestTriggersAreRaceFree(t *testing.T) {
	stale := map[sqlstmt.Dialect][]string{
		sqlstmt.Postgres: {"UPDATE @ SET note = 'stale', fence = " + setting(8)},
		sqlstmt.MariaDB:  {"UPDATE @ SET note = 'stale', fence = 8 WHERE id = 1", "REPLACE INTO @ (id, note, fence) VALUES (1, 'stale', 8)"},
	}
	stale[sqlstmt.MySQL] = stale[sqlstmt.MariaDB]
	newer := map[bool]string{true: "UPDATE @ SET fence = " + setting(10), false: "UPDATE @ SET fence = 10 WHERE id = 1"}
	eachDatabase(t, func(t *testing.T, db database) {
		if db.dialect == sqlstmt.SQLite {
			t.Skip("it has one writer at a time")
		}
		for _, text := range stale[db.dialect] {
			m := newMigrated(t, db, migrate.GolangMigrate)
			m.run(m.format, m.up)
			m.must(m.plan.Tables[0].Insert.String(), bound(m.plan.Tables[0].Insert.Statement, 7, map[string]any{"id": 1, "note": "a"})...)
			table := m.prefix + "orders"

			former := m.begin()
			if _, err := former.Exec("SELECT * FROM " + table); err != nil { // its snapshot
				t.Fatal(err)
			}
			successor := m.begin()
			if _, err := successor.Exec(named(newer[db.dialect == sqlstmt.Postgres], table)); err != nil {
				t.Fatal(err)
			}
			done := make(chan error)
			go func() {
				_, err := former.Exec(named(text, table))
				done <- err
			}()
			select {
			case err := <-done:
				t.Fatalf("%s: it did not wait: %v", text, err)
			case <-time.After(300 * time.Millisecond):
			}
			if err := successor.Commit(); err != nil {
				t.Fatal(err)
			}
			if got := outcome(<-done); got != "stale" {
				t.Errorf("%s: %s, want stale", text, got)
			}
			if err := former.Rollback(); err != nil {
				t.Fatal(err)
			}
			if got := m.fence(); got != 10 {
				t.Errorf("%s: the fence is %d, want 10", text, got)
			}
		}
	})
}

func (m migrated) begin() *sql.Tx {
	m.t.Helper()
	tx, err := m.BeginTx(context.Background(), nil)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = tx.Rollback() })
	return tx
}

// No fence is below 0, and in SQLite none is a text.
func TestConstraints(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		m := newMigrated(t, db, migrate.Plain)
		m.config(config.Table{Fence: "fence"})
		for _, value := range map[bool][]string{true: {"-1", "'x'"}, false: {"-1"}}[db.dialect == sqlstmt.SQLite] {
			if got := m.write("INSERT INTO " + m.prefix + "orders (id, note, fence) VALUES (1, 'a', " + value + ")"); got == "done" {
				t.Errorf("a fence %s was accepted", value)
			}
		}
		if got := m.write("INSERT INTO " + m.prefix + "orders (id, note) VALUES (1, 'a')"); got != "done" {
			t.Error(got)
		}
	})
}

// config migrates again, with another entry for the table orders.
func (m migrated) config(e config.Table) {
	m.t.Helper()
	p := newProject(m.t, m.dialect, "version: 1\n", first(m.format, named(base, m.prefix)))
	e.Name.Text = m.prefix + "orders"
	p.config.Tables = []config.Table{e}
	_, files := p.mustPlan()
	up, _ := parts(m.format, files)
	m.run(m.format, up)
}

// Names of any kind are quoted, in the text of the error as well.
func TestAnyName(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		db.t = t
		prefix := db.prefix("odd's \"`\\ name")
		table, fence := prefix+"odd's \"`\\ name", "fe\"n`ce $fence$"
		quote := func(name string) string { return plan.Quote(db.dialect, name) }
		ddl := "CREATE TABLE " + quote(table) + " (" + quote("i\"d`") + " bigint NOT NULL PRIMARY KEY, note varchar(20))"
		db.must(ddl)
		p := newProject(t, db.dialect, "version: 1\n", map[string]string{"schema.sql": ddl + ";\n"})
		p.config.Tables = []config.Table{{Name: config.Name{Text: table}, Fence: fence, Enforced: "trigger"}}
		_, files := p.mustPlan()
		p.write(files...)
		if _, again := p.mustPlan(); len(again) > 0 {
			t.Errorf("still missing:\n%s", again[0].Data)
		}
		up, down := parts(migrate.Plain, files)
		db.run(migrate.Plain, up)
		insert := "INSERT INTO " + quote(table) + " VALUES (1, 'a', 7)"
		update := "UPDATE " + quote(table) + " SET " + quote(fence) + " = 6"
		if db.dialect == sqlstmt.Postgres {
			insert = "SELECT " + setting(7) + "; " + insert
			update = "SELECT " + setting(6) + "; " + update
		}
		db.must(insert)
		_, err := db.ExecContext(t.Context(), update)
		if outcome(err) != "stale" || !strings.Contains(err.Error(), table) {
			t.Errorf("got %v, want it to be stale, and %s to be named", err, table)
		}
		db.run(migrate.Plain, down)
		db.must("DELETE FROM " + quote(table))
	})
}

// The trigger of a partitioned table is one of its partitions.
func TestPartitions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		if db.dialect != sqlstmt.Postgres {
			t.Skip("partitions are no tables")
		}
		db.t = t
		prefix := db.prefix("parted")
		ddl := named("CREATE TABLE @parted (id bigint PRIMARY KEY) PARTITION BY RANGE (id);\nCREATE TABLE @parted_1 PARTITION OF @parted FOR VALUES FROM (0) TO (10);\n", prefix)
		db.must(ddl)
		p := newProject(t, db.dialect, named("version: 1\ntables:\n  @parted: {fence: epoch, enforced: trigger}\n", prefix), map[string]string{"schema.sql": ddl})
		_, files := p.mustPlan()
		p.write(files...)
		if _, again := p.mustPlan(); len(again) > 0 {
			t.Errorf("still missing:\n%s", again[0].Data)
		}
		up, down := parts(migrate.Plain, files)
		db.run(migrate.Plain, up)
		for _, table := range []string{"parted", "parted_1"} {
			if _, err := db.ExecContext(t.Context(), "INSERT INTO "+prefix+table+" VALUES (1)"); outcome(err) != "unfenced" {
				t.Errorf("%s: got %v, want unfenced", table, err)
			}
		}
		if _, err := db.ExecContext(t.Context(), "TRUNCATE "+prefix+"parted"); outcome(err) != "unfenced" {
			t.Errorf("TRUNCATE: got %v, want unfenced", err)
		}
		db.run(migrate.Plain, down)
		db.must("INSERT INTO " + prefix + "parted VALUES (1)")
	})
}
