package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
	"github.com/fencelint/fence/fencedb/sqllease"
)

// The answer to a commit is lost: the same request finds its grant.
func TestSQLLeaseLostCommit(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		leases := db.leases(t)
		other, tap := db.tapped(t)
		lost := errors.New("the answer was lost")
		tap.after = func(step string, err error) error {
			if step == "COMMIT" && err == nil {
				return lost
			}
			return err
		}
		c := leases.on(other)
		r := ask("r", time.Minute)
		if _, err := c.Acquire(t.Context(), r); !errors.Is(err, lost) || errors.Is(err, fencedb.ErrNotSent) || errors.Is(err, fencedb.ErrRefused) {
			t.Fatalf("%v, want an error that says that the outcome is not known", err)
		}
		o, err := leases.open().Observe(t.Context(), "r")
		if err != nil || !o.Held {
			t.Fatal(o, err)
		}
		g := mustAcquire(t, c, r)
		if g.Token != o.Token || !g.Repeated || g.TTL != r.TTL || !g.At.Equal(o.Granted) {
			t.Errorf("%+v, want the grant of %+v", g, o)
		}
		other.idle(t)
	})
}

// A context that ends at any step of any call ends the call, which leaves nothing open, and
// the same request made again has the outcome that the first one had or did not have.
func TestSQLLeaseContextAtEveryStep(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		leases := db.leases(t)
		guards := db.guards(t)
		other, tap := db.tapped(t)
		for _, test := range []struct {
			name string
			call func(ctx context.Context, c *sqllease.Coordinator, g fencedb.Guard, h fencedb.Grant, r fencedb.AcquireRequest) error
		}{
			{"acquire", func(ctx context.Context, c *sqllease.Coordinator, guard fencedb.Guard, _ fencedb.Grant, r fencedb.AcquireRequest) error {
				r.Guards = []fencedb.Guard{guard}
				_, err := c.Acquire(ctx, r)
				return err
			}},
			{"renew", func(ctx context.Context, c *sqllease.Coordinator, _ fencedb.Guard, h fencedb.Grant, _ fencedb.AcquireRequest) error {
				_, err := c.Renew(ctx, fencedb.RenewRequest{Token: h.Token, TTL: time.Minute})
				return err
			}},
			{"release", func(ctx context.Context, c *sqllease.Coordinator, _ fencedb.Guard, h fencedb.Grant, _ fencedb.AcquireRequest) error {
				return c.Release(ctx, h.Token)
			}},
			{"observe", func(ctx context.Context, c *sqllease.Coordinator, _ fencedb.Guard, h fencedb.Grant, _ fencedb.AcquireRequest) error {
				_, err := c.Observe(ctx, h.Token.Resource())
				return err
			}},
			{"break", func(ctx context.Context, c *sqllease.Coordinator, _ fencedb.Guard, h fencedb.Grant, _ fencedb.AcquireRequest) error {
				_, err := c.Break(ctx, sqllease.BreakRequest{Resource: h.Token.Resource(), Actor: "a", Reason: "r"})
				return err
			}},
			{"advance", func(ctx context.Context, c *sqllease.Coordinator, _ fencedb.Guard, _ fencedb.Grant, _ fencedb.AcquireRequest) error {
				_, err := c.Advance(ctx, sqllease.AdvanceRequest{Floor: 1, Actor: "a", Reason: "r"})
				return err
			}},
			{"list", func(ctx context.Context, c *sqllease.Coordinator, _ fencedb.Guard, _ fencedb.Grant, _ fencedb.AcquireRequest) error {
				_, err := c.List(ctx)
				return err
			}},
			{"cleanup", func(ctx context.Context, c *sqllease.Coordinator, _ fencedb.Guard, _ fencedb.Grant, _ fencedb.AcquireRequest) error {
				_, err := c.Cleanup(ctx, time.Hour)
				return err
			}},
			{"migrate", func(ctx context.Context, c *sqllease.Coordinator, _ fencedb.Guard, _ fencedb.Grant, _ fencedb.AcquireRequest) error {
				return c.Migrate(ctx)
			}},
		} {
			t.Run(test.name, func(t *testing.T) {
				for stop := int64(1); ; stop++ {
					ended := 0
					for _, before := range []bool{true, false} {
						held := mustAcquire(t, leases.open(), ask(fmt.Sprintf("held-%s-%d-%v", test.name, stop, before), time.Minute))
						c := leases.on(other)
						tap.steps.Store(0)
						ctx, cancel := context.WithCancel(t.Context())
						end := func() {
							if tap.steps.Load() == stop {
								cancel()
							}
						}
						if before {
							tap.before = func(string) error { end(); return nil }
						} else {
							tap.after = func(_ string, err error) error { end(); return err }
						}
						r := ask(fmt.Sprintf("new-%s-%d-%v", test.name, stop, before), time.Minute)
						began := time.Now()
						err := test.call(ctx, c, guards.On(other.DB), held, r)
						if took := time.Since(began); took > 5*time.Second {
							t.Errorf("step %d: the call took %v after its context had ended", stop, took)
						}
						if ctx.Err() != nil {
							ended++
						} else if err != nil {
							t.Errorf("step %d of %d, where the context has not ended: %v", stop, tap.steps.Load(), err)
						}
						cancel()
						other.idle(t)
						tap.before, tap.after = nil, nil
						if err := test.call(t.Context(), c, guards.On(other.DB), held, r); err != nil {
							t.Errorf("step %d: made again: %v", stop, err)
						}
					}
					if ended == 0 {
						if stop == 1 {
							t.Error("the call has no steps")
						}
						return
					}
				}
			})
		}
	})
}

// What certainly did not leave is told from what may have.
func TestSQLLeaseNotSent(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		leases := db.leases(t)
		g := mustAcquire(t, leases.open(), ask("r", time.Minute))
		other, tap := db.tapped(t)
		other.SetMaxOpenConns(1)
		c := leases.on(other)
		if _, err := c.Observe(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		calls := map[string]func(ctx context.Context) error{
			"acquire": func(ctx context.Context) error { _, err := c.Acquire(ctx, ask("new", time.Minute)); return err },
			"renew": func(ctx context.Context) error {
				_, err := c.Renew(ctx, fencedb.RenewRequest{Token: g.Token, TTL: time.Minute})
				return err
			},
			"release": func(ctx context.Context) error { return c.Release(ctx, g.Token) },
		}
		if err := calls["renew"](t.Context()); err != nil { // which prepares it on SQLite
			t.Fatal(err)
		}
		busy, err := other.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for name, call := range calls {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			if err := call(ctx); !errors.Is(err, fencedb.ErrNotSent) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s without a connection: %v, want ErrNotSent and the context's", name, err)
			}
			cancel()
		}
		// A connection that comes when there is hardly time for an answer is not used.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		freed := make(chan error, 1)
		time.AfterFunc(920*time.Millisecond, func() { freed <- busy.Close() })
		if err := calls["renew"](ctx); !errors.Is(err, fencedb.ErrNotSent) {
			t.Errorf("a renewal that waited for most of its time: %v, want ErrNotSent", err)
		}
		if err := <-freed; err != nil {
			t.Fatal(err)
		}
		broken := errors.New("connection reset by peer")
		tap.before = func(string) error { return broken }
		for name, call := range calls {
			err := call(t.Context())
			sent := name != "acquire" // whose first statement only reads
			if !errors.Is(err, broken) || errors.Is(err, fencedb.ErrNotSent) == sent {
				t.Errorf("%s whose statement failed: %v, sent: %v", name, err, sent)
			}
		}
		tap.before = nil
		if err := calls["renew"](t.Context()); err != nil {
			t.Error(err)
		}
		other.idle(t)
	})
	t.Run("dial", func(t *testing.T) {
		db, err := sql.Open("pgx", "postgres://nobody@127.0.0.1:1/none?sslmode=disable&connect_timeout=1")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		c, err := sqllease.New(db, fencedb.Postgres)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Acquire(t.Context(), ask("r", time.Minute)); !errors.Is(err, fencedb.ErrNotSent) || errors.Is(err, fencedb.ErrRefused) {
			t.Errorf("%v, want ErrNotSent", err)
		}
	})
}

// Time is read after a lock: who waited for one decides by when it got it.
func TestSQLLeaseTimeAfterLock(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		db.SetMaxOpenConns(20)
		leases := db.leases(t)
		table := leases.table("fence_leases")
		const ttl = 300 * time.Millisecond
		// lock keeps a resource's row locked for longer than the lease lasts, and changes
		// nothing.
		lock := func(t *testing.T, resource string) (unlock func()) {
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec("UPDATE " + table + " SET owner = owner WHERE resource = '" + resource + "'"); err != nil {
				t.Fatal(err)
			}
			return func() {
				time.Sleep(ttl + 100*time.Millisecond)
				if err := tx.Rollback(); err != nil {
					t.Error(err)
				}
			}
		}
		t.Run("a grant is not expired when it is made", func(t *testing.T) {
			c := leases.open()
			g := mustAcquire(t, c, ask("granted", ttl))
			if err := c.Release(t.Context(), g.Token); err != nil {
				t.Fatal(err)
			}
			unlock := lock(t, "granted")
			done := make(chan fencedb.Grant, 1)
			asked := time.Now()
			go func() { done <- mustAcquire(t, leases.open(), ask("granted", ttl)) }()
			unlock()
			<-done
			o, err := c.Observe(t.Context(), "granted")
			if err != nil || !o.Held || o.Granted.Before(asked.Add(ttl)) {
				t.Errorf("asked for at %v, granted at %v, held: %v, %v: its time is from before the wait", asked, o.Granted, o.Held, err)
			}
		})
		t.Run("a renewal that waited past the end", func(t *testing.T) {
			c := leases.open()
			g := mustAcquire(t, c, ask("renewed", ttl))
			unlock := lock(t, "renewed")
			done := make(chan error, 1)
			asked := time.Now()
			go func() {
				_, err := c.Renew(t.Context(), fencedb.RenewRequest{Token: g.Token, TTL: ttl})
				done <- err
			}()
			unlock()
			err := <-done
			if db.dialect == fencedb.Postgres || db.dialect == fencedb.SQLite {
				if !errors.Is(err, fencedb.ErrLeaseExpired) {
					t.Errorf("%v, want ErrLeaseExpired", err)
				}
				return
			}
			// MariaDB's time is when the statement began. Nobody was granted the resource
			// meanwhile, and the lease lasts from then.
			o, seen := c.Observe(t.Context(), "renewed")
			if err != nil || seen != nil || o.Expires.After(asked.Add(ttl+50*time.Millisecond)) {
				t.Errorf("%v, %v, renewed until %v, asked at %v", err, seen, o.Expires, asked)
			}
		})
		t.Run("a renewal that waited for a grant", func(t *testing.T) {
			if db.dialect == fencedb.SQLite {
				t.Skip("SQLite has one writer, so nobody waits for a row: scripts/services go test ./fencedb/storetest has others")
			}
			c := leases.open()
			g := mustAcquire(t, c, ask("taken", ttl))
			guards := db.guards(t)
			if err := guards.Raise(t.Context(), db, g.Token); err != nil {
				t.Fatal(err)
			}
			time.Sleep(ttl + 50*time.Millisecond)
			writer, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := guards.Enter(t.Context(), writer, g.Token); err != nil {
				t.Fatal(err)
			}
			done := make(chan fencedb.Grant, 1)
			r := ask("taken", time.Minute)
			r.Guards = []fencedb.Guard{guards.On(db.DB)}
			go func() { done <- mustAcquire(t, leases.open(), r) }()
			time.Sleep(100 * time.Millisecond) // it waits for the writer, with the lease locked
			renewed := make(chan error, 1)
			go func() {
				_, err := c.Renew(t.Context(), fencedb.RenewRequest{Token: g.Token, TTL: ttl})
				renewed <- err
			}()
			time.Sleep(100 * time.Millisecond)
			if err := writer.Commit(); err != nil {
				t.Fatal(err)
			}
			waited := time.Now()
			after := <-done
			if after.At.Before(waited.Add(-50 * time.Millisecond)) {
				t.Errorf("granted at %v, and its transaction waited for a writer until %v: its time is from before the wait", after.At, waited)
			}
			if len(after.Raised) != 1 || !after.Raised[0] || after.Predecessor.Value != g.Token.Value() || after.Predecessor.End != "expired" {
				t.Errorf("%+v", after)
			}
			if err := <-renewed; !errors.Is(err, fencedb.ErrSuperseded) && !errors.Is(err, fencedb.ErrLeaseExpired) {
				t.Errorf("the former holder's renewal: %v", err)
			}
			if err := guards.InScope(t.Context(), db, g.Token, nil, nothing); !errors.Is(err, fencedb.ErrStale) {
				t.Errorf("a write of the former holder: %v, want ErrStale", err)
			}
		})
	})
}

// A renewal does not wait for a writer in the scope of its resource, nor for contenders.
func TestSQLLeaseRenewBesideWriters(t *testing.T) {
	eachServer(t, func(t *testing.T, db database) {
		db.SetMaxOpenConns(20)
		leases := db.leases(t)
		guards := db.guards(t)
		c := leases.open()
		r := ask("r", time.Minute)
		r.Guards = []fencedb.Guard{guards.On(db.DB)}
		g := mustAcquire(t, c, r)
		writer, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = writer.Rollback() }()
		if err := guards.Enter(t.Context(), writer, g.Token); err != nil {
			t.Fatal(err)
		}
		other := ask("r", time.Minute)
		other.Guards = r.Guards
		if _, err := leases.open().Acquire(t.Context(), other); !errors.Is(err, fencedb.ErrHeld) {
			t.Errorf("a contender: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if _, err := c.Renew(ctx, fencedb.RenewRequest{Token: g.Token, TTL: time.Minute}); err != nil {
			t.Error(err)
		}
	})
}

// A guard that knows a larger token makes no grant: neither lease nor counter nor any other
// guard is changed.
func TestSQLLeaseGuardAhead(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		leases := db.leases(t)
		c := leases.open()
		one, ahead := db.guards(t), db.guards(t)
		known := fencedbtest.Token("r", 41)
		if err := ahead.Raise(t.Context(), db, known); err != nil {
			t.Fatal(err)
		}
		r := ask("r", time.Minute)
		r.Guards = []fencedb.Guard{one.On(db.DB), ahead.On(db.DB)}
		_, err := c.Acquire(t.Context(), r)
		var regression *fencedb.RegressionError
		if !errors.As(err, &regression) || regression.Source != "guard" || regression.Known != 41 || regression.Granted != 1 || !errors.Is(err, fencedb.ErrRefused) {
			t.Fatalf("%v, want a RegressionError", err)
		}
		if o, err := c.Observe(t.Context(), "r"); err != nil || !o.Token.IsZero() {
			t.Errorf("%+v, %v after a grant that was not made", o, err)
		}
		if err := one.Raise(t.Context(), db, fencedbtest.Token("r", 1)); err != nil {
			t.Errorf("the other guard was raised: %v", err)
		}
		if _, err := c.Advance(t.Context(), sqllease.AdvanceRequest{Floor: regression.Known, NewIncarnation: true, Actor: "a", Reason: "restored"}); err != nil {
			t.Fatal(err)
		}
		g := mustAcquire(t, c, r)
		if g.Token.Value() <= 41 || g.Token.Incarnation() != 1 || len(g.Raised) != 2 || !g.Raised[0] || !g.Raised[1] {
			t.Errorf("%+v after the advice was followed", g)
		}
		// One number of two grants is a conflict.
		conflict := ask("s", time.Minute)
		conflict.Guards = []fencedb.Guard{ahead.On(db.DB)}
		if err := ahead.Raise(t.Context(), db, fencedbtest.Granted("s", g.Token.Value()+1, "other")); err != nil {
			t.Fatal(err)
		}
		var twice *fencedb.ConflictError
		if _, err := c.Acquire(t.Context(), conflict); !errors.As(err, &twice) || !errors.Is(err, fencedb.ErrRefused) {
			t.Errorf("%v, want a ConflictError that is refused", err)
		}
		db.idle(t)
	})
}

func TestSQLLeaseNamespaces(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		leases := db.leases(t)
		a, b := leases.open(sqllease.Namespace("a")), leases.open(sqllease.Namespace("B'\"`"))
		one, two := mustAcquire(t, a, ask("one", time.Minute)), mustAcquire(t, b, ask("two", time.Minute))
		if one.Token.Value() != 1 || two.Token.Value() != 1 || a.Namespace() != "a" {
			t.Errorf("%v and %v: each has a counter of its own", one.Token, two.Token)
		}
		for what, err := range map[string]error{
			"acquire": second(b.Acquire(t.Context(), ask("one", time.Minute))),
			"renew":   second(b.Renew(t.Context(), fencedb.RenewRequest{Token: one.Token, TTL: time.Minute})),
			"release": b.Release(t.Context(), one.Token),
			"observe": second(b.Observe(t.Context(), "one")),
			"break":   second(b.Break(t.Context(), sqllease.BreakRequest{Resource: "one", Actor: "a", Reason: "r"})),
		} {
			if !errors.Is(err, fencedb.ErrRefused) || !strings.Contains(err.Error(), `"a"`) {
				t.Errorf("%s of another namespace's resource: %v, want one that is refused and names it", what, err)
			}
		}
		if err := a.Release(t.Context(), one.Token); err != nil {
			t.Error(err)
		}
		// A name differs from another one in its case.
		if c := mustAcquire(t, leases.open(sqllease.Namespace("A")), ask("three", time.Minute)); c.Token.Value() != 1 {
			t.Errorf("%v, in a namespace of its own", c.Token)
		}
		for name, all := range map[*sqllease.Coordinator]string{a: "one", b: "two"} {
			list, err := name.List(t.Context())
			if err != nil || len(list) != 1 || list[0].Resource != all {
				t.Errorf("%v, %v, want %s alone", list, err, all)
			}
		}
	})
}

func TestSQLLeaseNames(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		c := db.leases(t).open()
		seen := make(map[int64]bool)
		for _, name := range []string{"r", "R", `it's "quoted" \ ` + "`too`", "größe/ü", "$1 ? ?1 @leases :x %s", "日本語", strings.Repeat("ü", 127) + "x", strings.Repeat("x", 255), "a--b;c"} {
			r := ask(name, time.Minute)
			r.Owner = name + "\\'\"\n"
			if len(r.Owner) > 255 {
				r.Owner = name
			}
			g := mustAcquire(t, c, r)
			if seen[g.Token.Value()] || g.Token.Resource() != name {
				t.Errorf("%q: %v", name, g.Token)
			}
			seen[g.Token.Value()] = true
			if _, err := c.Renew(t.Context(), fencedb.RenewRequest{Token: g.Token, TTL: time.Minute}); err != nil {
				t.Errorf("%q: %v", name, err)
			}
			o, err := c.Observe(t.Context(), name)
			if err != nil || o.Owner != r.Owner || o.Token != g.Token {
				t.Errorf("%q: %+v, %v", name, o, err)
			}
			if err := c.Release(t.Context(), g.Token); err != nil {
				t.Errorf("%q: %v", name, err)
			}
		}
		for _, bad := range []struct {
			what   string
			change func(*fencedb.AcquireRequest)
		}{
			{"a TTL of 0", func(r *fencedb.AcquireRequest) { r.TTL = 0 }},
			{"a TTL over a day", func(r *fencedb.AcquireRequest) { r.TTL = 25 * time.Hour }},
			{"a negative lock-delay", func(r *fencedb.AcquireRequest) { r.LockDelay = -1 }},
			{"an owner that is too long", func(r *fencedb.AcquireRequest) { r.Owner = strings.Repeat("x", 256) }},
			{"an owner not in UTF-8", func(r *fencedb.AcquireRequest) { r.Owner = "\xff" }},
			{"an owner with a NUL", func(r *fencedb.AcquireRequest) { r.Owner = "\x00" }},
			{"no grant id", func(r *fencedb.AcquireRequest) { r.GrantID = "" }},
			{"a resource with a newline", func(r *fencedb.AcquireRequest) { r.Resource = "a\nb" }},
			{"a negative window", func(r *fencedb.AcquireRequest) { r.Usable = -1 }},
		} {
			r := ask("bad", time.Minute)
			bad.change(&r)
			if _, err := c.Acquire(t.Context(), r); !errors.Is(err, fencedb.ErrRefused) {
				t.Errorf("%s: %v, want ErrRefused", bad.what, err)
			}
		}
		external, err := fencedb.ExternalToken("r", 7)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Release(t.Context(), external); !errors.Is(err, fencedb.ErrInvalidToken) || !errors.Is(err, fencedb.ErrRefused) {
			t.Errorf("a token of no grant: %v", err)
		}
	})
	for _, test := range []struct {
		dialect fencedb.Dialect
		opts    []sqllease.Option
	}{
		{"oracle", nil},
		{fencedb.SQLite, []sqllease.Option{sqllease.InSchema("x")}},
		{fencedb.Postgres, []sqllease.Option{sqllease.InSchema(strings.Repeat("x", 64))}},
		{fencedb.Postgres, []sqllease.Option{sqllease.Namespace("")}},
		{fencedb.Postgres, []sqllease.Option{sqllease.Namespace("a\nb")}},
	} {
		if _, err := sqllease.New(new(sql.DB), test.dialect, test.opts...); !errors.Is(err, fencedb.ErrRefused) {
			t.Errorf("%s: %v, want ErrRefused", test.dialect, err)
		}
	}
	if _, err := sqllease.New(nil, fencedb.SQLite); !errors.Is(err, fencedb.ErrRefused) {
		t.Errorf("without a database: %v", err)
	}
}

// No setting of a driver or of a session changes what is read or written.
func TestSQLLeaseSettings(t *testing.T) {
	settings := map[fencedb.Dialect][]string{
		fencedb.Postgres: {
			"&timezone=Asia/Kathmandu&datestyle=German&intervalstyle=sql_standard&default_transaction_isolation=serializable&bytea_output=escape",
			"&timezone=America/New_York&default_query_exec_mode=simple_protocol&default_transaction_isolation=repeatable%20read",
		},
		fencedb.MariaDB: {
			"?parseTime=true&loc=America%2FNew_York&clientFoundRows=true&time_zone=%27%2B05:45%27",
			"?clientFoundRows=false&sql_mode=%27ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,HIGH_NOT_PRECEDENCE,SIMULTANEOUS_ASSIGNMENT,NO_ZERO_DATE,STRICT_ALL_TABLES%27&tx_isolation=%27SERIALIZABLE%27&interpolateParams=true",
			"?sql_mode=%27ORACLE,EMPTY_STRING_IS_NULL%27&time_zone=%27-11:00%27&innodb_snapshot_isolation=ON",
			"?sql_mode=%27%27&charset=latin1",
		},
		fencedb.SQLite: {"&_txlock=deferred", "&_pragma=foreign_keys(1)&_txlock=exclusive"},
	}
	eachDatabase(t, func(t *testing.T, db database) {
		for _, params := range settings[db.dialect] {
			t.Run(params, func(t *testing.T) {
				driver := map[fencedb.Dialect]string{fencedb.Postgres: "pgx", fencedb.SQLite: "sqlite"}[db.dialect]
				if driver == "" {
					driver = "mysql"
				}
				source := db.source
				if db.dialect == fencedb.SQLite {
					source = openSQLite(t).source
					source = strings.Replace(source, "&_txlock=immediate", "", 1)
				}
				own := database{open(t, driver, source+params), db.dialect, source}
				c := own.leases(t).open() // the tables are made with these settings, too
				began := time.Now()
				r := ask("größe", time.Minute)
				r.LockDelay, r.Owner = time.Second, ""
				g := mustAcquire(t, c, r)
				renewal, err := c.Renew(t.Context(), fencedb.RenewRequest{Token: g.Token, TTL: 2 * time.Minute, Usable: 90 * time.Second})
				if err != nil || renewal.Count != 1 {
					t.Fatalf("%+v, %v", renewal, err)
				}
				o, err := c.Observe(t.Context(), "größe")
				if err != nil {
					t.Fatal(err)
				}
				near := func(what string, at, want time.Time) {
					if d := at.Sub(want); d < -5*time.Second || d > 5*time.Second {
						t.Errorf("%s is %v, want about %v", what, at, want)
					}
				}
				near("granted", o.Granted, began)
				near("renewed", renewal.At, began)
				near("expires", o.Expires, began.Add(2*time.Minute))
				near("free", o.Free, began.Add(2*time.Minute+time.Second))
				if !o.Renewed.Equal(renewal.At) || !o.Granted.Equal(g.At) || !o.Held || o.Renewals != 1 || o.Usable != 90*time.Second || o.LockDelay != time.Second {
					t.Errorf("%+v beside %+v and %+v", o, g, renewal)
				}
				if d := o.Expires.Sub(o.Renewed) - 2*time.Minute; d < 0 || d > time.Millisecond {
					t.Errorf("expires %v after the renewal", o.Expires.Sub(o.Renewed))
				}
				if d := o.Free.Sub(o.Expires); d != time.Second {
					t.Errorf("free %v after the end", d)
				}
				if _, err := c.Acquire(t.Context(), ask("größe", time.Minute)); !errors.Is(err, fencedb.ErrHeld) {
					t.Errorf("a contender: %v", err)
				}
				if _, err := c.Break(t.Context(), sqllease.BreakRequest{Resource: "größe", Actor: "ä", Reason: "it's \\ \"so\"", NoDelay: true}); err != nil {
					t.Error(err)
				}
				next := mustAcquire(t, c, ask("größe", time.Minute))
				if next.Predecessor.End != "broken" || next.Predecessor.GrantID != r.GrantID || next.Token.Value() != 3 {
					t.Errorf("%+v", next)
				}
				if err := c.Release(t.Context(), next.Token); err != nil {
					t.Error(err)
				}
				if err := c.Release(t.Context(), next.Token); err != nil {
					t.Errorf("again: %v", err)
				}
				recorder := sqllease.NewRecorder(c)
				recorder.Observer().Decide(t.Context(), fencedb.Decision{Operation: "update", Table: "t", Resource: "größe", Presented: 1, Current: 3, Result: fencedb.Stale})
				if err := errors.Join(recorder.Close(t.Context()), recorder.Err()); err != nil {
					t.Error(err)
				}
				list, err := c.List(t.Context())
				if err != nil || len(list) != 1 || list[0].Rejected != 1 {
					t.Errorf("%+v, %v", list, err)
				}
				near("rejected", list[0].LastRejected, began)
				if n, err := c.Cleanup(t.Context(), 0); err != nil || n != 1 {
					t.Errorf("%d rows cleaned, %v", n, err)
				}
			})
		}
	})
}

// A grant and a renewal are on the disk when they are answered, whatever the role's setting.
func TestSQLLeaseDurable(t *testing.T) {
	eachServer(t, func(t *testing.T, db database) {
		if db.dialect != fencedb.Postgres {
			t.Skip("only PostgreSQL has the setting: scripts/services go test ./fencedb/storetest")
		}
		own := database{open(t, "pgx", db.source+"&synchronous_commit=off"), db.dialect, db.source}
		leases := own.leases(t)
		c, table, schema := leases.open(), leases.table("fence_leases"), leases.schema
		for _, text := range []string{
			"CREATE TABLE " + schema + ".commits (how text)",
			"CREATE FUNCTION " + schema + ".note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO " + schema + ".commits VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$",
			"CREATE TRIGGER note AFTER UPDATE ON " + table + " FOR EACH STATEMENT EXECUTE FUNCTION " + schema + ".note()",
		} {
			if _, err := db.Exec(text); err != nil {
				t.Fatal(err)
			}
		}
		g := mustAcquire(t, c, ask("r", time.Minute))
		if _, err := c.Renew(t.Context(), fencedb.RenewRequest{Token: g.Token, TTL: time.Minute}); err != nil {
			t.Fatal(err)
		}
		var n, on int
		if err := db.QueryRow("SELECT count(*), count(*) FILTER (WHERE how = 'on') FROM "+schema+".commits").Scan(&n, &on); err != nil || n != 2 || on != 2 {
			t.Errorf("%d of %d commits wait for the disk, %v", on, n, err)
		}
		var now string
		if err := own.QueryRow("SHOW synchronous_commit").Scan(&now); err != nil || now != "off" {
			t.Errorf("the session's own setting is %q, %v", now, err)
		}
	})
}
