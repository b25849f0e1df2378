//go:build linux

package takeovers

import (
	"crypto/rand"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
	"github.com/fencelint/fence/fencedb/sqllease"
)

// Leases in a database keep what a coordinator promises when the server crashes and recovers.
// Package storetest runs the suite on servers that it must not restart, with a guard and an operator,
// which are not given here.
func TestConformanceAcrossRestarts(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what takes half a minute: scripts/apart takeovers")
	}
	for _, d := range []database{postgres, mariadb} {
		t.Run(string(d.dialect), func(t *testing.T) {
			t.Parallel()
			open, server := d.open(t)
			fencedbtest.RunCoordinator(t, fencedbtest.CoordinatorSuite{
				MinTTL: time.Second, // other tests run beside this one
				New: func(t *testing.T) fencedbtest.CoordinatorUnderTest {
					// A database on MariaDB, which has the statement, too.
					db, schema := open(1), "s"+strings.ToLower(rand.Text())
					if _, err := db.ExecContext(t.Context(), "CREATE SCHEMA "+schema); err != nil {
						t.Fatal(err)
					}
					leases := func(db *sql.DB) *sqllease.Coordinator {
						c, err := sqllease.New(db, d.dialect, sqllease.InSchema(schema))
						if err != nil {
							t.Fatal(err)
						}
						return c
					}
					if err := leases(db).Migrate(t.Context()); err != nil {
						t.Fatal(err)
					}
					return fencedbtest.CoordinatorUnderTest{
						Open:    func() fencedb.Coordinator { return leases(open(4)) },
						Restart: server.Restart,
					}
				},
			})
		})
	}
}
