//go:build linux

package worker

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	// The drivers of the stores.
	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/sqllease"
	"github.com/fencelint/fence/fencedb/storetest/takeovers/journal"
)

// dialects say how a database is opened, and how its tables are made and read.
var dialects = map[fencedb.Dialect]struct {
	driver    string
	serial    string // the type of a number that rises with each row
	mark      func(n int) string
	committed string // when a row's transaction was committed, in microseconds
}{
	fencedb.Postgres: {"pgx", "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", func(n int) string { return fmt.Sprintf("$%d", n) },
		"(extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000000)::bigint"},
	fencedb.MariaDB: {"mysql", "bigint AUTO_INCREMENT PRIMARY KEY", question, "0"},
	fencedb.SQLite:  {"sqlite", "INTEGER PRIMARY KEY", question, "0"},
}

func question(int) string { return "?" }

type sqlStore struct {
	dialect fencedb.Dialect
	db      *sql.DB // of the leases
	data    *sql.DB // of the writes, which may keep its connections for a while
	raise   *sql.DB // one of them: db has the guards raised in the grant's transaction
	leases  *sqllease.Coordinator
	guards  *fencedb.GuardTable
	writes  string // statements
	raises  string
	counts  string
	name    string

	unguarded bool
}

func openSQL(c Config) (*sqlStore, error) {
	d := fencedb.Dialect(c.Store)
	s := &sqlStore{dialect: d, name: c.Name, unguarded: c.Unguarded}
	var err error
	if s.db, err = openPool(d, c.Sources[0]); err != nil {
		return nil, err
	}
	if s.data, err = openPool(d, c.Sources[0]); err != nil {
		return nil, err
	}
	if s.raise = s.db; c.Apart {
		s.raise = s.data
	}
	if s.leases, err = sqllease.New(s.db, d); err != nil {
		return nil, err
	}
	if s.guards, err = fencedb.NewGuardTable(d, fencedb.InTable(Guards)); err != nil {
		return nil, err
	}
	mark := dialects[d].mark
	s.writes = fmt.Sprintf("INSERT INTO %s (resource, token, worker, n) VALUES (%s, %s, %s, %s)", History, mark(1), mark(2), mark(3), mark(4))
	s.raises = fmt.Sprintf("INSERT INTO %s (resource, token, grant_id, seen) VALUES (%s, %s, %s, %s)", History, mark(1), mark(2), mark(3), mark(4))
	s.counts = fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE resource = %s AND grant_id = '' AND token < %s", History, mark(1), mark(2))
	return s, nil
}

// openPool opens a pool of few connections.
func openPool(d fencedb.Dialect, source string) (*sql.DB, error) {
	named, err := sql.Open(dialects[d].driver, source)
	if err != nil {
		return nil, err
	}
	defer func() { _ = named.Close() }() // it has no connection
	var connector driver.Connector = dataSource{named.Driver(), source}
	if d, ok := named.Driver().(driver.DriverContext); ok {
		if connector, err = d.OpenConnector(source); err != nil {
			return nil, err
		}
	}
	db := sql.OpenDB(patient{connector})
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	return db, nil
}

// patient connects in the time that it takes, also after the attempt that wanted the
// connection was given up: the next one finds it. Otherwise a server that is busy, or has
// just been started, has nothing to do but to begin with connections that are given up.
type patient struct{ driver.Connector }

func (p patient) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return p.Connector.Connect(ctx)
}

type dataSource struct {
	driver driver.Driver
	source string
}

func (s dataSource) Connect(context.Context) (driver.Conn, error) { return s.driver.Open(s.source) }
func (s dataSource) Driver() driver.Driver                        { return s.driver }

func (s *sqlStore) coordinator() fencedb.Coordinator { return s.leases }

func (s *sqlStore) guard() fencedb.Guard {
	return noted{s.guards.On(s.raise).(fencedb.TxGuard), s, s.raise}
}

func (s *sqlStore) write(ctx context.Context, t fencedb.Token, n int64, stay time.Duration) error {
	if s.unguarded {
		_, err := s.data.ExecContext(ctx, s.writes, t.Resource(), t.Value(), s.name, n)
		return err
	}
	return s.guards.InScope(ctx, s.data, t, nil, func(tx *sql.Tx) error {
		sleep(ctx, stay)
		_, err := tx.ExecContext(ctx, s.writes, t.Resource(), t.Value(), s.name, n)
		return err
	})
}

func (s *sqlStore) close() error {
	return errors.Join(s.db.Close(), s.data.Close())
}

// noted is a guard whose raises are rows of the history. Each has how many writes of lower
// tokens there were: it is not to become more.
type noted struct {
	fencedb.TxGuard
	store *sqlStore
	db    *sql.DB
}

func (g noted) Raise(ctx context.Context, t fencedb.Token) error {
	opts := &sql.TxOptions{Isolation: sql.LevelReadCommitted} // counts what is there by then
	if g.store.dialect == fencedb.SQLite {
		opts = nil
	}
	tx, err := g.db.BeginTx(ctx, opts)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	if err := g.RaiseIn(ctx, tx, t); err != nil {
		return err
	}
	return tx.Commit()
}

func (g noted) RaiseIn(ctx context.Context, tx *sql.Tx, t fencedb.Token) error {
	if err := g.TxGuard.RaiseIn(ctx, tx, t); err != nil {
		return err
	}
	var seen int64
	if err := tx.QueryRowContext(ctx, g.store.counts, t.Resource(), t.Value()).Scan(&seen); err != nil {
		return fmt.Errorf("counting the writes of %s: %w", t.Resource(), err)
	}
	if _, err := tx.ExecContext(ctx, g.store.raises, t.Resource(), t.Value(), t.Grant(), seen); err != nil {
		return fmt.Errorf("noting the raise of %s: %w", t.Resource(), err)
	}
	return nil
}

// A Database is a store that is one, as those see it who run the workers.
type Database struct {
	*sql.DB
	dialect fencedb.Dialect
}

// OpenDatabase connects to a database, and makes the tables that workers need.
func OpenDatabase(ctx context.Context, d fencedb.Dialect, source string) (*Database, error) {
	db, err := sql.Open(dialects[d].driver, source)
	if err != nil {
		return nil, err
	}
	guards, err := fencedb.NewGuardTable(d, fencedb.InTable(Guards))
	if err != nil {
		return nil, err
	}
	leases, err := sqllease.New(db, d)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(leases.Migrate(ctx), guards.Create(ctx, db)); err != nil {
		return nil, err
	}
	for _, statement := range []string{
		fmt.Sprintf(`CREATE TABLE %s (seq %s, resource varchar(255) NOT NULL, token bigint NOT NULL, grant_id varchar(64) NOT NULL DEFAULT '',
worker varchar(64) NOT NULL DEFAULT '', n bigint NOT NULL DEFAULT 0, seen bigint NOT NULL DEFAULT -1)`, History, dialects[d].serial),
		fmt.Sprintf(`CREATE INDEX %s_counts ON %s (resource, grant_id, token)`, History, History),
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return nil, fmt.Errorf("making %s: %w", History, err)
		}
	}
	db.SetMaxIdleConns(0) // it is asked once more, in the end, after the server was started again
	return &Database{db, d}, nil
}

// Rows reads what the store kept.
func (db *Database) Rows(ctx context.Context) (all []journal.Row, err error) {
	rows, err := db.QueryContext(ctx, fmt.Sprintf(`SELECT seq, resource, token, grant_id, worker, n, seen, %s FROM %s`, dialects[db.dialect].committed, History))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var r journal.Row
		if err := rows.Scan(&r.Seq, &r.Resource, &r.Token, &r.Grant, &r.Worker, &r.N, &r.Seen, &r.Committed); err != nil {
			return nil, err
		}
		r.Raise = r.Grant != ""
		all = append(all, r)
	}
	return all, rows.Err()
}
