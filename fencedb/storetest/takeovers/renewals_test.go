//go:build linux

package takeovers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/sqllease"
	"github.com/fencelint/fence/fencedb/storetest/takeovers/server"
	"github.com/fencelint/fence/fencedb/storetest/takeovers/worker"
)

// A database is a store that is one, here without a proxy.
type database struct {
	dialect fencedb.Dialect
	driver  string
	start   func(ctx context.Context, root string) (*server.Database, error) // nil for a file
}

var (
	sqlite   = database{fencedb.SQLite, "sqlite", nil}
	postgres = database{fencedb.Postgres, "pgx", server.Postgres}
	mariadb  = database{fencedb.MariaDB, "mysql", server.MariaDB}
)

// open starts the database, and returns what opens pools of so many connections, and the
// server, which is nil for a file.
func (d database) open(t testing.TB) (func(connections int) *sql.DB, *server.Database) {
	t.Helper()
	closes := func(close func() error) {
		t.Cleanup(func() {
			if err := close(); err != nil {
				t.Error(err)
			}
		})
	}
	source := "file:" + filepath.Join(directory(t), "test.db") + "?_pragma=journal_mode(wal)&_pragma=busy_timeout(20000)&_txlock=immediate"
	var started *server.Database
	if d.start != nil {
		var err error
		started, err = d.start(t.Context(), directory(t))
		if errors.Is(err, server.ErrMissing) {
			t.Skipf("%v: scripts/services --install true installs PostgreSQL and MariaDB", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		closes(started.Close)
		source = started.Source(started.Addr)
	}
	tables, err := worker.OpenDatabase(t.Context(), d.dialect, source)
	if err != nil {
		t.Fatal(err)
	}
	closes(tables.Close)
	return func(connections int) *sql.DB {
		db, err := sql.Open(d.driver, source)
		if err != nil {
			t.Fatal(err)
		}
		closes(db.Close)
		db.SetMaxOpenConns(connections)
		db.SetMaxIdleConns(connections)
		return db
	}, started
}

// durations are collected from any number of goroutines.
type durations struct {
	mu  sync.Mutex
	all []time.Duration
}

// add returns how many there are then.
func (d *durations) add(one time.Duration) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, one)
	return len(d.all)
}

func (d *durations) quantiles() quantiles {
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.Sort(d.all)
	return quantilesOf(d.all)
}

// Renewals of a held lease while eight writers write without a gap in the scope of its guard,
// on connections of their own. Their 99th percentile has to stay below the time that Hold gives
// one attempt by default.
func BenchmarkRenewBesideWriters(b *testing.B) {
	const writers, attemptTimeout = 8, fencedb.DefaultTTL / 5
	for _, d := range []database{sqlite, postgres, mariadb} {
		b.Run(string(d.dialect), func(b *testing.B) {
			open, _ := d.open(b)
			leases, writes := open(2), open(writers)
			c, guards := coordinator(b, d, leases)
			text := "UPDATE benchmark SET value = value + 1 WHERE id = 1"
			for _, statement := range []string{"CREATE TABLE benchmark (id bigint PRIMARY KEY, value bigint NOT NULL)", "INSERT INTO benchmark VALUES (1, 0)"} {
				if _, err := leases.ExecContext(b.Context(), statement); err != nil {
					b.Fatal(err)
				}
			}
			var renewals durations
			var written, unanswered atomic.Int64
			enough := make(chan struct{})
			var once sync.Once
			observer := &fencedb.Observer{Renew: func(_ context.Context, r fencedb.RenewReceipt) {
				if r.Outcome != fencedb.RenewOK {
					unanswered.Add(1)
				}
				if renewals.add(r.Duration) >= b.N {
					once.Do(func() { close(enough) })
				}
			}}
			work := func(ctx context.Context, lease *fencedb.Lease) error {
				var all sync.WaitGroup
				defer all.Wait()
				ctx, stop := context.WithCancel(ctx)
				defer stop()
				b.ResetTimer()
				for range writers {
					all.Go(func() {
						for ctx.Err() == nil {
							err := guards.InScope(ctx, writes, lease.Token(), nil, func(tx *sql.Tx) error {
								_, err := tx.ExecContext(ctx, text)
								return err
							})
							if err == nil {
								written.Add(1)
							} else if ctx.Err() == nil {
								b.Error(err)
							}
						}
					})
				}
				select {
				case <-enough:
				case <-ctx.Done():
				}
				b.StopTimer()
				return context.Cause(ctx)
			}
			if err := fencedb.Hold(b.Context(), c, "r", work, fencedb.Guards(guards.On(leases)), fencedb.RenewEvery(time.Millisecond), fencedb.WithObserver(observer)); err != nil {
				b.Fatal(err)
			}
			q := renewals.quantiles()
			b.ReportMetric(q.P50, "p50-ms")
			b.ReportMetric(q.P99, "p99-ms")
			b.ReportMetric(q.Max, "max-ms")
			b.ReportMetric(float64(unanswered.Load()), "unanswered")
			b.ReportMetric(float64(written.Load())/b.Elapsed().Seconds(), "writes/s")
			if q.P99 >= float64(attemptTimeout.Milliseconds()) {
				b.Errorf("the 99th percentile is %v ms, and an attempt has %v", q.P99, attemptTimeout)
			}
		})
	}
}

func coordinator(t testing.TB, d database, db *sql.DB) (*sqllease.Coordinator, *fencedb.GuardTable) {
	t.Helper()
	c, err := sqllease.New(db, d.dialect)
	if err != nil {
		t.Fatal(err)
	}
	guards, err := fencedb.NewGuardTable(d.dialect, fencedb.InTable(worker.Guards))
	if err != nil {
		t.Fatal(err)
	}
	return c, guards
}

// One process holds many leases on PostgreSQL for three times their TTL, through twenty
// connections. None may be lost.
func TestManyLeases(t *testing.T) {
	const variable, connections, ttl = "FENCE_TEST_LEASES", 20, 30 * time.Second
	n := int(number(t, variable, 0))
	if n == 0 {
		t.Skipf("%s=10000 scripts/apart takeovers -v -run TestManyLeases: it takes some minutes", variable)
	}
	open, _ := postgres.open(t)
	db := open(connections)
	c, _ := coordinator(t, postgres, db)

	var renewals durations
	var acquired, failed atomic.Int64
	observer := &fencedb.Observer{Renew: func(_ context.Context, r fencedb.RenewReceipt) {
		if r.Outcome != fencedb.RenewOK {
			failed.Add(1)
			return
		}
		renewals.add(r.Duration)
	}}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	before := usage(t)
	room := make(chan struct{}, 2*connections) // acquisitions at once
	errs := make(chan error, n)
	began := time.Now()
	for i := range n {
		go func() {
			room <- struct{}{}
			held := false
			leave := func() {
				if !held {
					held = true
					<-room
				}
			}
			errs <- fencedb.Hold(ctx, c, fmt.Sprintf("many:%d", i), func(ctx context.Context, _ *fencedb.Lease) error {
				leave()
				acquired.Add(1)
				<-ctx.Done()
				if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
					return cause
				}
				return nil
			}, fencedb.TTL(ttl), fencedb.WithObserver(observer))
			leave()
		}()
	}
	for acquired.Load() < int64(n) {
		select {
		case err := <-errs:
			t.Fatalf("a lease ended before all were held: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Logf("%d leases were acquired in %v", n, time.Since(began))

	held := usage(t)
	earlier := renewals.quantiles().N
	began = time.Now()
	time.Sleep(3 * ttl)
	took := time.Since(began)
	after := usage(t)
	q := renewals.quantiles()
	q.N -= earlier
	stop()
	lost := 0
	for range n {
		if err := <-errs; err != nil {
			lost++
			t.Error(err)
		}
	}
	leaseSeconds := float64(n) * took.Seconds()
	t.Logf("%d leases for %v: %d lost, %d renewals without an answer; %.0f renewals/s, p50 %.1f ms, p99 %.1f ms, max %.1f ms; "+
		"CPU %.2f of a core, %.1f µs per lease and second; memory %.1f KB per lease (heap and stacks), %.1f KB resident",
		n, took.Round(time.Second), lost, failed.Load(), float64(q.N)/took.Seconds(), q.P50, q.P99, q.Max,
		(after.cpu-held.cpu).Seconds()/took.Seconds(), (after.cpu-held.cpu).Seconds()/leaseSeconds*1e6,
		float64(after.memory-before.memory)/float64(n)/1024, float64(after.resident-before.resident)/float64(n)/1024)
}

// used is what a process has used.
type used struct {
	cpu              time.Duration
	memory, resident int64 // bytes
}

func usage(t *testing.T) used {
	t.Helper()
	runtime.GC()
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, resident int64 // pages
	if _, err := fmt.Sscan(string(statm), &size, &resident); err != nil {
		t.Fatal(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return used{time.Duration(r.Utime.Nano() + r.Stime.Nano()), int64(m.HeapAlloc + m.StackInuse), resident * int64(os.Getpagesize())}
}
