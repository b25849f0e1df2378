package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
)

// BenchmarkRenew renews a lease in turns with an UPDATE of one row by its key, by hand, and
// reports the medians of both and their ratio:
//
//	scripts/services go test ./fencedb/storetest -run '^$' -bench 'Renew|Acquire' -benchtime 3000x
func BenchmarkRenew(b *testing.B) {
	eachBenched(b, func(b *testing.B, db database) {
		leases := db.leases(b)
		ctx := context.Background()
		c := leases.open()
		g := mustAcquire(b, c, ask("orders:daily", time.Hour))
		bare := leases.table("bare")
		for _, text := range []string{"CREATE TABLE " + bare + " (id varchar(255) PRIMARY KEY, n bigint)", "INSERT INTO " + bare + " (id) VALUES ('orders:daily')"} {
			if _, err := db.Exec(text); err != nil {
				b.Fatal(err)
			}
		}
		update := "UPDATE " + bare + " SET n = ? WHERE id = ?"
		if db.dialect == fencedb.Postgres {
			update = "UPDATE " + bare + " SET n = $1 WHERE id = $2"
		}
		b.ResetTimer()
		inTurns(b, func(int64) error {
			_, err := c.Renew(ctx, fencedb.RenewRequest{Token: g.Token, TTL: time.Hour})
			return err
		}, func(n int64) error {
			_, err := db.ExecContext(ctx, update, n, "orders:daily")
			return err
		})
	})
}

// BenchmarkAcquire reports the median of a grant of a free resource, without and with a guard
// in its transaction, and how many times the driver is called for it.
func BenchmarkAcquire(b *testing.B) {
	eachBenched(b, func(b *testing.B, db database) {
		for _, guarded := range []bool{false, true} {
			b.Run(fmt.Sprintf("guarded=%v", guarded), func(b *testing.B) {
				leases := db.leases(b)
				ctx := context.Background()
				guards, err := fencedb.NewGuardTable(db.dialect, fencedb.InTable(fmt.Sprintf("bench_guards_%d", tables.Add(1))))
				if err != nil {
					b.Fatal(err)
				}
				if err := guards.Create(ctx, db); err != nil {
					b.Fatal(err)
				}
				counted, tap := db.tapped(b)
				ours := leases.on(counted)
				once := func() time.Duration {
					r := ask("r", time.Minute)
					if guarded {
						r.Guards = []fencedb.Guard{guards.On(counted.DB)}
					}
					began := time.Now()
					g, err := ours.Acquire(ctx, r)
					took := time.Since(began)
					if err != nil {
						b.Fatal(err)
					}
					steps := tap.steps.Load()
					if err := ours.Release(ctx, g.Token); err != nil {
						b.Fatal(err)
					}
					tap.steps.Store(steps)
					return took
				}
				once() // the tables are looked at
				tap.steps.Store(0)
				took := make([]time.Duration, 0, b.N)
				b.ResetTimer()
				for b.Loop() {
					took = append(took, once())
				}
				slices.Sort(took)
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(took[len(took)/2].Microseconds()), "acquire-µs")
				b.ReportMetric(float64(tap.steps.Load())/float64(len(took)), "calls")
			})
		}
	})
}

// eachBenched runs a benchmark on SQLite and on every server.
func eachBenched(b *testing.B, run func(b *testing.B, db database)) {
	b.Run("sqlite", func(b *testing.B) { run(b, openSQLite(b)) })
	for _, s := range servers {
		b.Run(string(s.dialect), func(b *testing.B) { run(b, s.open(b)) })
	}
}
