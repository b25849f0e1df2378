package storetest

import (
	"context"
	"database/sql"
	"testing"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
	"github.com/fencelint/fence/fencedb/sqllease"
)

// Leases in a database keep what a coordinator promises.
func TestConformanceSQLLease(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		fencedbtest.RunCoordinator(t, fencedbtest.CoordinatorSuite{New: db.coordinatorUnderTest, Parallel: db.dialect != fencedb.SQLite})
	})
}

// coordinatorUnderTest makes lease tables, and guard rows in the same database.
func (db database) coordinatorUnderTest(t *testing.T) fencedbtest.CoordinatorUnderTest {
	t.Helper()
	if db.dialect == fencedb.SQLite {
		db = openSQLite(t)
	}
	leases := db.leases(t)
	operator := leases.open()
	guards := db.guards(t)
	return fencedbtest.CoordinatorUnderTest{
		Open: func() fencedb.Coordinator { return leases.open() },
		Break: func(ctx context.Context, resource string, noDelay bool) error {
			_, err := operator.Break(ctx, sqllease.BreakRequest{Resource: resource, Actor: "tester", Reason: "test", NoDelay: noDelay})
			return err
		},
		Guard: &fencedbtest.GuardUnderTest{
			Guard: guards.On(db.DB),
			Write: func(ctx context.Context, token fencedb.Token) error {
				return guards.InScope(ctx, db, token, nil, nothing)
			},
			InScope: func(ctx context.Context, token fencedb.Token, fn func() error) error {
				return guards.InScope(ctx, db, token, nil, func(*sql.Tx) error { return fn() })
			},
		},
	}
}
