package storetest

import (
	"context"
	"database/sql"
	"testing"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
)

// Guard rows keep what a guard promises, on each database.
func TestConformanceGuardTable(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		fencedbtest.RunGuard(t, fencedbtest.GuardSuite{New: db.guardUnderTest})
	})
}

// guardUnderTest makes guard rows, and a table that is written in their scope.
func (db database) guardUnderTest(t *testing.T) fencedbtest.GuardUnderTest {
	t.Helper()
	g := db.guards(t)
	table, err := db.dialect.Quote(db.name(t, "guarded"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE "+table+" (writes bigint NOT NULL)"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO "+table+" (writes) VALUES (0)"); err != nil {
		t.Fatal(err)
	}
	inScope := func(ctx context.Context, token fencedb.Token, fn func() error) error {
		return g.InScope(ctx, db, token, nil, func(tx *sql.Tx) error {
			if err := fn(); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, "UPDATE "+table+" SET writes = writes + 1")
			return err
		})
	}
	return fencedbtest.GuardUnderTest{
		Guard: g.On(db),
		Write: func(ctx context.Context, token fencedb.Token) error {
			return inScope(ctx, token, func() error { return nil })
		},
		InScope: inScope,
	}
}
