package storetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/sqllease"
)

// leaseTables are the tables of package sqllease in a schema that nobody else uses: a database
// on MariaDB, the file of the test on SQLite.
type leaseTables struct {
	t      testing.TB
	db     database
	schema string // empty on SQLite
}

// noLeases makes the schema, without the tables, and drops it in the end.
func (db database) noLeases(t testing.TB) leaseTables {
	t.Helper()
	if db.dialect == fencedb.SQLite {
		return leaseTables{t, db, ""}
	}
	name := fmt.Sprintf("leases_%d_%d", os.Getpid(), tables.Add(1))
	kind, cascade := "SCHEMA", " CASCADE"
	if db.dialect != fencedb.Postgres {
		kind, cascade = "DATABASE", ""
	}
	if _, err := db.Exec("CREATE " + kind + " " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := db.Exec("DROP " + kind + " " + name + cascade); err != nil {
			t.Error(err)
		}
	})
	return leaseTables{t, db, name}
}

// leases makes the schema and the tables.
func (db database) leases(t testing.TB) leaseTables {
	t.Helper()
	l := db.noLeases(t)
	if err := l.open().Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

// open returns a coordinator with a memory of its own, as another process has one.
func (l leaseTables) open(opts ...sqllease.Option) *sqllease.Coordinator { return l.on(l.db, opts...) }

// on is open with other connections.
func (l leaseTables) on(db database, opts ...sqllease.Option) *sqllease.Coordinator {
	l.t.Helper()
	if l.schema != "" {
		opts = append(opts, sqllease.InSchema(l.schema))
	}
	c, err := sqllease.New(db.DB, db.dialect, opts...)
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}

// table is the name of a table in statements by hand.
func (l leaseTables) table(name string) string {
	if l.schema == "" {
		return name
	}
	return l.schema + "." + name
}

func ask(resource string, ttl time.Duration) fencedb.AcquireRequest {
	return fencedb.AcquireRequest{Resource: resource, GrantID: rand.Text(), Owner: "tester", TTL: ttl, Usable: ttl / 2}
}

func mustAcquire(t testing.TB, c fencedb.Coordinator, r fencedb.AcquireRequest) fencedb.Grant {
	t.Helper()
	g, err := c.Acquire(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// idle fails unless every connection comes back to the pool.
func (db database) idle(t testing.TB) {
	t.Helper()
	for range 100 {
		if db.Stats().InUse == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%d connections were not given back", db.Stats().InUse)
}

// A tap stands between database/sql and a driver. Each call of the driver that sends something
// is a step.
type tap struct {
	before func(step string) error            // it is sent unless that returns an error
	after  func(step string, err error) error // what the answer becomes
	steps  atomic.Int64
}

func (p *tap) step(step string, send func() error) error {
	p.steps.Add(1)
	if p.before != nil {
		if err := p.before(step); err != nil {
			return err
		}
	}
	err := send()
	if p.after != nil {
		err = p.after(step, err)
	}
	return err
}

// rows is a step that reads rows.
func (p *tap) rows(step string, send func() (driver.Rows, error)) (driver.Rows, error) {
	var rows driver.Rows
	sent := false
	err := p.step(step, func() (err error) {
		rows, err = send()
		sent = err == nil
		return err
	})
	if err != nil && sent {
		err = errors.Join(err, rows.Close())
	}
	return rows, err
}

// tapped opens the same database through a tap.
func (db database) tapped(t testing.TB) (database, *tap) {
	t.Helper()
	p := new(tap)
	var inner driver.Connector = dsnConnector{db.Driver(), db.source}
	if d, ok := db.Driver().(driver.DriverContext); ok {
		var err error
		if inner, err = d.OpenConnector(db.source); err != nil {
			t.Fatal(err)
		}
	}
	other := sql.OpenDB(tapConnector{inner, p})
	t.Cleanup(func() { other.Close() })
	return database{other, db.dialect, db.source}, p
}

type dsnConnector struct {
	driver driver.Driver
	source string
}

func (c dsnConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.source) }
func (c dsnConnector) Driver() driver.Driver                        { return c.driver }

type tapConnector struct {
	driver.Connector
	tap *tap
}

func (c tapConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return tapConn{conn, c.tap}, nil
}

// tapConn has what all three drivers have.
type tapConn struct {
	driver.Conn
	tap *tap
}

func (c tapConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.tap.rows(query, func() (driver.Rows, error) { return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args) })
}

func (c tapConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (result driver.Result, err error) {
	err = c.tap.step(query, func() error {
		result, err = c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
		return err
	})
	return result, err
}

func (c tapConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	var stmt driver.Stmt
	prepared := false
	err := c.tap.step("PREPARE "+query, func() (err error) {
		stmt, err = c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
		prepared = err == nil
		return err
	})
	if err != nil && prepared {
		err = errors.Join(err, stmt.Close())
	}
	return tapStmt{stmt, c.tap, query}, err
}

func (c tapConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	var tx driver.Tx
	begun := false
	err := c.tap.step("BEGIN", func() (err error) {
		tx, err = c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
		begun = err == nil
		return err
	})
	if err != nil && begun {
		err = errors.Join(err, tx.Rollback())
	}
	return tapTx{tx, c.tap}, err
}

func (c tapConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

func (c tapConn) ResetSession(ctx context.Context) error {
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

func (c tapConn) IsValid() bool {
	v, ok := c.Conn.(driver.Validator)
	return !ok || v.IsValid()
}

// tapStmt is prepared, and is asked for rows alone.
type tapStmt struct {
	driver.Stmt
	tap   *tap
	query string
}

func (s tapStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.tap.rows(s.query, func() (driver.Rows, error) { return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args) })
}

type tapTx struct {
	driver.Tx
	tap *tap
}

func (tx tapTx) Commit() error   { return tx.tap.step("COMMIT", tx.Tx.Commit) }
func (tx tapTx) Rollback() error { return tx.tap.step("ROLLBACK", tx.Tx.Rollback) }
