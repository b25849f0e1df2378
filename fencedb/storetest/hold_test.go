package storetest

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/sqllease"
)

// The whole story on a real database: an owner whose connections are gone loses its lease, a
// successor is granted it with its guard raised in the grant's transaction, and the owner's late
// write is rejected.
func TestHold(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		guards := db.guards(t)
		writes := db.name(t, "writes")
		quoted, err := db.dialect.Quote(writes)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("CREATE TABLE " + quoted + " (writer integer NOT NULL)"); err != nil {
			t.Fatal(err)
		}
		resource := "hold:" + writes
		write := func(ctx context.Context, l *fencedb.Lease, writer string) error {
			return guards.InScope(ctx, db, l.Token(), nil, func(tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, "INSERT INTO "+quoted+" VALUES ("+writer+")")
				return err
			})
		}
		own := open(t, driverOf(db.dialect), db.source)
		hold := func(pool *sql.DB, work func(context.Context, *fencedb.Lease) error, opts ...fencedb.HoldOption) error {
			c, err := sqllease.New(pool, db.dialect)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			return fencedb.Hold(t.Context(), c, resource, work, append(opts, fencedb.TTL(1500*time.Millisecond), fencedb.Guards(guards.On(pool)))...)
		}
		var granted fencedb.GrantReceipt
		observer := &fencedb.Observer{Grant: func(_ context.Context, g fencedb.GrantReceipt) { granted = g }}

		err = hold(own, func(ctx context.Context, l *fencedb.Lease) error {
			if err := write(ctx, l, "1"); err != nil {
				t.Error(err)
			}
			if err := own.Close(); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
			if l.Valid() {
				t.Error("the context ended before the lease")
			}
			err := hold(db.DB, func(ctx context.Context, next *fencedb.Lease) error {
				if next.Token().Value() <= l.Token().Value() {
					t.Errorf("token %d after %d", next.Token().Value(), l.Token().Value())
				}
				return write(ctx, next, "2")
			}, fencedb.WithObserver(observer))
			if err != nil {
				t.Errorf("the successor: %v", err)
			}
			return write(context.WithoutCancel(ctx), l, "1")
		}, fencedb.Owner("first"))
		if !errors.Is(err, fencedb.ErrStale) || !errors.Is(err, fencedb.ErrLeaseExpired) {
			t.Errorf("the first holder: %v", err)
		}
		if p := granted.Predecessor; p.Owner != "first" || p.End != "expired" || granted.TakeoverDelay <= 0 || granted.Guards != 1 {
			t.Errorf("the successor's receipt: %+v", granted)
		}
		var count, last int
		if err := db.QueryRow("SELECT count(*), max(writer) FROM "+quoted).Scan(&count, &last); err != nil || count != 2 || last != 2 {
			t.Errorf("%d writes, the last by %d, %v", count, last, err)
		}
	})
}

func driverOf(d fencedb.Dialect) string {
	for _, s := range servers {
		if s.dialect == d {
			return s.driver
		}
	}
	return "sqlite"
}
