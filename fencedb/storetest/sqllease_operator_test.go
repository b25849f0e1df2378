package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
	"github.com/fencelint/fence/fencedb/sqllease"
)

// audit reads the audit: action, resource, actor, reason and tokens of each row.
func (l leaseTables) audit() []string {
	l.t.Helper()
	rows, err := l.db.Query("SELECT action, COALESCE(resource, '-'), actor, reason, token_before, token_after FROM " + l.table("fence_audit") + " ORDER BY id")
	if err != nil {
		l.t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var action, resource, actor, reason string
		var before, after int64
		if err := rows.Scan(&action, &resource, &actor, &reason, &before, &after); err != nil {
			l.t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %s by %s for %q: %d to %d", action, resource, actor, reason, before, after))
	}
	if err := rows.Err(); err != nil {
		l.t.Fatal(err)
	}
	return all
}

func TestSQLLeaseBreak(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		leases := db.leases(t)
		c, ctx := leases.open(), t.Context()
		breaking := sqllease.BreakRequest{Resource: "r", Actor: "ann@example.org", Reason: "it's stuck"}
		if _, err := c.Break(ctx, breaking); !errors.Is(err, fencedb.ErrReleased) {
			t.Errorf("a resource that was never granted: %v, want ErrReleased", err)
		}
		if list, err := c.List(ctx); err != nil || len(list) != 0 {
			t.Errorf("it is listed: %v, %v", list, err)
		}
		for _, bad := range []sqllease.BreakRequest{
			{Resource: "r", Actor: "a"}, {Resource: "r", Reason: "r"}, {Resource: "", Actor: "a", Reason: "r"}, {Resource: "r", Actor: "\x00", Reason: "r"},
		} {
			if _, err := c.Break(ctx, bad); !errors.Is(err, fencedb.ErrRefused) {
				t.Errorf("%+v: %v, want ErrRefused", bad, err)
			}
		}
		r := ask("r", time.Minute)
		r.LockDelay = time.Minute
		g := mustAcquire(t, c, r)
		o, err := c.Break(ctx, breaking)
		if err != nil {
			t.Fatal(err)
		}
		if o.Held || o.End != "broken" || o.Token.Value() <= g.Token.Value() || o.Token.Grant() != r.GrantID || o.TakeoverIn() < 110*time.Second || o.TakeoverIn() > 2*time.Minute {
			t.Errorf("after a break: %+v", o)
		}
		if _, err := c.Renew(ctx, fencedb.RenewRequest{Token: g.Token, TTL: time.Minute}); !errors.Is(err, fencedb.ErrReleased) {
			t.Errorf("the holder's renewal: %v, want ErrReleased", err)
		}
		if _, err := c.Acquire(ctx, r); !errors.Is(err, fencedb.ErrReleased) {
			t.Errorf("the holder's request again: %v, want ErrReleased", err)
		}
		var held *fencedb.HeldError
		if _, err := c.Acquire(ctx, ask("r", time.Minute)); !errors.As(err, &held) || held.End != "broken" || held.FreeIn < 110*time.Second {
			t.Errorf("the next: %v, want to wait for the holder's time and the lock-delay", err)
		}
		again, err := c.Break(ctx, breaking)
		if err != nil || again.Token != o.Token {
			t.Errorf("broken again: %+v, %v, want no other token", again, err)
		}
		breaking.NoDelay = true
		if o, err = c.Break(ctx, breaking); err != nil || o.TakeoverIn() != 0 {
			t.Errorf("without a delay: %+v, %v", o, err)
		}
		next := mustAcquire(t, c, ask("r", time.Minute))
		if next.Token.Value() != 4 || next.Predecessor.End != "broken" || next.Predecessor.GrantID != r.GrantID {
			t.Errorf("the next: %+v", next)
		}
		want := []string{`break r by ann@example.org for "it's stuck": 1 to 2`, `break r by ann@example.org for "it's stuck": 2 to 3`}
		if got := leases.audit(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the audit is %q, want %q", got, want)
		}
	})
}

func TestSQLLeaseAdvance(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		leases := db.leases(t)
		c, ctx := leases.open(), t.Context()
		advance := func(floor int64, anew bool, quarantine time.Duration) int64 {
			t.Helper()
			v, err := c.Advance(ctx, sqllease.AdvanceRequest{Floor: floor, NewIncarnation: anew, Quarantine: quarantine, Actor: "ann", Reason: "restore"})
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		for _, bad := range []sqllease.AdvanceRequest{
			{Actor: "a", Reason: "r"}, {Floor: 1, Actor: "a"}, {Floor: 1, Reason: "r"}, {Floor: -1, Actor: "a", Reason: "r"},
			{Quarantine: -1, Actor: "a", Reason: "r"}, {Quarantine: sqllease.MaxQuarantine + 1, Actor: "a", Reason: "r"},
			{Floor: 1<<63 - 1, NewIncarnation: true, Actor: "a", Reason: "r"},
		} {
			if _, err := c.Advance(ctx, bad); !errors.Is(err, fencedb.ErrRefused) {
				t.Errorf("%+v: %v, want ErrRefused", bad, err)
			}
		}
		if v := advance(100, false, 0); v != 101 {
			t.Errorf("the first floor: %d, want 101", v)
		}
		held := mustAcquire(t, c, ask("held", time.Minute))
		if held.Token.Value() != 102 {
			t.Errorf("%v, want 102", held.Token)
		}
		if v := advance(50, false, 0); v != 103 {
			t.Errorf("a floor that is lower: %d, want 103", v)
		}
		if _, err := c.Renew(ctx, fencedb.RenewRequest{Token: held.Token, TTL: time.Minute}); err != nil {
			t.Errorf("a floor has ended a lease: %v", err)
		}
		other := leases.open(sqllease.Namespace("other"))
		safe := mustAcquire(t, other, ask("safe", time.Minute))

		v := advance(0, true, 700*time.Millisecond)
		if v>>48 != 1 {
			t.Errorf("a new incarnation: %d", v)
		}
		if _, err := c.Renew(ctx, fencedb.RenewRequest{Token: held.Token, TTL: time.Minute}); !errors.Is(err, fencedb.ErrReleased) {
			t.Errorf("a grant from before: %v, want ErrReleased", err)
		}
		if _, err := other.Renew(ctx, fencedb.RenewRequest{Token: safe.Token, TTL: time.Minute}); err != nil {
			t.Errorf("a grant of another namespace: %v", err)
		}
		until := time.Now().Add(700 * time.Millisecond)
		advance(0, false, time.Millisecond) // which is shorter
		for _, c := range []*sqllease.Coordinator{c, leases.open()} {
			var quarantined *fencedb.HeldError
			_, err := c.Acquire(ctx, ask("new", time.Minute))
			if !errors.As(err, &quarantined) || quarantined.End != fencedb.Quarantined || quarantined.FreeIn < 100*time.Millisecond || quarantined.FreeIn > 700*time.Millisecond {
				t.Errorf("during the quarantine: %v, want a HeldError that says so", err)
			}
		}
		if o, err := c.Observe(ctx, "new"); err != nil || o.TakeoverIn() < 100*time.Millisecond || o.TakeoverIn() > 710*time.Millisecond {
			t.Errorf("observed during the quarantine: %+v, %v", o, err)
		}
		mustAcquire(t, other, ask("also safe", time.Minute))
		time.Sleep(time.Until(until) + 100*time.Millisecond)
		g := mustAcquire(t, c, ask("new", time.Minute))
		if g.Token.Value() <= v || g.Token.Incarnation() != 1 {
			t.Errorf("%v after %d", g.Token, v)
		}
		var held2 *fencedb.HeldError
		if _, err := c.Acquire(ctx, ask("held", time.Minute)); !errors.As(err, &held2) || held2.End != "broken" {
			t.Errorf("a resource that was held: %v, want to wait for its former holder", err)
		}
		if n := len(leases.audit()); n != 4 {
			t.Errorf("the audit is %q, want 4 rows", leases.audit())
		}
	})
}

// An advance beside grants loses none, ends those from before, and deadlocks with nobody.
func TestSQLLeaseAdvanceBesideGrants(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		db.SetMaxOpenConns(20)
		leases := db.leases(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		const workers = 6
		done := make(chan error, workers)
		stop := make(chan struct{})
		for w := range workers {
			c := leases.open()
			go func() {
				done <- func() error {
					for n := 0; ; n++ {
						select {
						case <-stop:
							return nil
						default:
						}
						g, err := c.Acquire(ctx, ask(fmt.Sprintf("r-%d-%d", w, n%20), time.Minute))
						if err != nil && !errors.Is(err, fencedb.ErrHeld) {
							return err
						}
						if err == nil && n%2 == 0 {
							if err := c.Release(ctx, g.Token); err != nil && !errors.Is(err, fencedb.ErrReleased) {
								return err
							}
						}
					}
				}()
			}()
		}
		operator := leases.open()
		for range 6 {
			time.Sleep(30 * time.Millisecond)
			v, err := operator.Advance(ctx, sqllease.AdvanceRequest{NewIncarnation: true, Actor: "a", Reason: "r"})
			if err != nil {
				t.Error(err)
				break
			}
			list, err := operator.List(ctx)
			if err != nil {
				t.Error(err)
				break
			}
			for _, l := range list {
				if l.Held && l.Token.Value() <= v {
					t.Errorf("%v is held after the counter was advanced to %d", l.Token, v)
				}
			}
		}
		close(stop)
		for range workers {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

// Leases that are deleted do not take the counter with them.
func TestSQLLeaseCleanup(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		leases := db.leases(t)
		c, ctx := leases.open(), t.Context()
		expired := mustAcquire(t, c, ask("expired", 20*time.Millisecond))
		delayed := ask("delayed", 20*time.Millisecond)
		delayed.LockDelay = time.Hour
		mustAcquire(t, c, delayed)
		held := mustAcquire(t, c, ask("held", time.Hour))
		released := mustAcquire(t, c, ask("released", time.Hour))
		if err := c.Release(ctx, released.Token); err != nil {
			t.Fatal(err)
		}
		elsewhere := leases.open(sqllease.Namespace("elsewhere"))
		mustAcquire(t, elsewhere, ask("other", 20*time.Millisecond))
		time.Sleep(100 * time.Millisecond)
		if n, err := c.Cleanup(ctx, time.Hour); n != 0 || err != nil {
			t.Errorf("%d rows of the last hour, %v", n, err)
		}
		if _, err := c.Cleanup(ctx, -1); !errors.Is(err, fencedb.ErrRefused) {
			t.Errorf("a negative time: %v, want ErrRefused", err)
		}
		if n, err := c.Cleanup(ctx, 10*time.Millisecond); n != 2 || err != nil {
			t.Errorf("%d rows, %v, want the expired and the released one", n, err)
		}
		list, err := c.List(ctx)
		if err != nil || len(list) != 2 || list[0].Resource != "delayed" || list[1].Resource != "held" {
			t.Errorf("%+v, %v are left, want delayed and held", list, err)
		}
		if o, err := elsewhere.Observe(ctx, "other"); err != nil || o.Token.IsZero() {
			t.Errorf("another namespace's: %+v, %v", o, err)
		}
		if _, err := c.Renew(ctx, fencedb.RenewRequest{Token: expired.Token, TTL: time.Minute}); !errors.Is(err, fencedb.ErrSuperseded) {
			t.Errorf("a lease that is gone: %v", err)
		}
		for _, resource := range []string{"expired", "released"} {
			if g := mustAcquire(t, c, ask(resource, time.Minute)); g.Token.Value() <= released.Token.Value() || g.Predecessor != (fencedb.Predecessor{}) {
				t.Errorf("%+v after a clean-up, want a token above %d", g, released.Token.Value())
			}
		}
		if _, err := c.Renew(ctx, fencedb.RenewRequest{Token: held.Token, TTL: time.Minute}); err != nil {
			t.Error(err)
		}
	})
}

// A clean-up beside grants deletes none of them.
func TestSQLLeaseCleanupBesideGrants(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		db.SetMaxOpenConns(20)
		leases := db.leases(t)
		stop, cleaned := make(chan struct{}), make(chan error, 1)
		go func() {
			c := leases.open()
			for {
				select {
				case <-stop:
					cleaned <- nil
					return
				case <-time.After(time.Millisecond):
				}
				if _, err := c.Cleanup(t.Context(), 0); err != nil {
					cleaned <- err
					return
				}
			}
		}()
		c := leases.open()
		last := int64(0)
		for n := range 50 {
			g, err := c.Acquire(t.Context(), ask(fmt.Sprintf("r%d", n%2), time.Minute))
			if err != nil {
				t.Errorf("grant %d: %v", n, err)
				break
			}
			if g.Token.Value() <= last {
				t.Errorf("token %d after %d", g.Token.Value(), last)
			}
			last = g.Token.Value()
			if _, err := c.Renew(t.Context(), fencedb.RenewRequest{Token: g.Token, TTL: time.Minute}); err != nil {
				t.Errorf("the renewal of grant %d: %v", n, err)
			}
			if err := c.Release(t.Context(), g.Token); err != nil {
				t.Errorf("the release of grant %d: %v", n, err)
			}
		}
		close(stop)
		if err := <-cleaned; err != nil {
			t.Error(err)
		}
	})
}

// A counter that has gone back is found out: by the leases in the database, and by what this
// process has seen. Nothing is granted then, until an operator has advanced it.
func TestSQLLeaseRegression(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		for _, test := range []struct{ name, statement, source string }{
			{"the counter is set back", "UPDATE @namespaces SET counter = 0", "lease"},
			{"the counter is deleted", "DELETE FROM @namespaces", "lease"},
			{"everything is forgotten", "DELETE FROM @leases; DELETE FROM @namespaces", "client"},
		} {
			t.Run(test.name, func(t *testing.T) {
				db := db
				if db.dialect == fencedb.SQLite {
					db = openSQLite(t)
				}
				leases := db.leases(t)
				c, ctx := leases.open(), t.Context()
				var last fencedb.Grant
				for n := range 3 {
					last = mustAcquire(t, c, ask(fmt.Sprintf("r%d", n), time.Minute))
				}
				if err := c.Release(ctx, last.Token); err != nil {
					t.Fatal(err)
				}
				leases.run(test.statement)
				_, err := c.Acquire(ctx, ask("r2", time.Minute))
				var regression *fencedb.RegressionError
				if !errors.As(err, &regression) || regression.Source != test.source || regression.Known != last.Token.Value() || regression.Namespace != "default" {
					t.Fatalf("%v, want a RegressionError from %q", err, test.source)
				}
				if o, err := c.Observe(ctx, "r2"); err != nil || o.Held {
					t.Errorf("%+v, %v: it was granted", o, err)
				}
				if _, err := c.Advance(ctx, sqllease.AdvanceRequest{Floor: regression.Known, NewIncarnation: true, Actor: "a", Reason: "r"}); err != nil {
					t.Fatal(err)
				}
				if g := mustAcquire(t, c, ask("new", time.Minute)); g.Token.Incarnation() != 1 || g.Token.Counter() <= 3 {
					t.Errorf("%v after the advice was followed", g.Token)
				}
			})
		}
	})
}

// run runs statements by hand, in which @leases and so on stand for tables.
func (l leaseTables) run(statements string) {
	l.t.Helper()
	for statement := range strings.SplitSeq(statements, ";") {
		for _, table := range []string{"leases", "namespaces"} {
			statement = strings.ReplaceAll(statement, "@"+table, l.table("fence_"+table))
		}
		if _, err := l.db.Exec(statement); err != nil {
			l.t.Fatal(err)
		}
	}
}

func TestSQLLeaseRecorder(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		leases := db.leases(t)
		c, ctx := leases.open(), t.Context()
		recorder := sqllease.NewRecorder(c, sqllease.Build("v1.2.3"))
		guards := db.guards(t, fencedb.ObservedBy(recorder.Observer()))
		r := ask("orders", time.Minute)
		r.Guards = []fencedb.Guard{guards.On(db.DB)}
		former := mustAcquire(t, c, r)
		if err := c.Release(ctx, former.Token); err != nil {
			t.Fatal(err)
		}
		r.GrantID = "another"
		mustAcquire(t, c, r)
		mustAcquire(t, c, ask("quiet", time.Minute))
		for range 3 {
			// On SQLite the writer that observes keeps the recorder's from writing.
			if err := guards.InScope(ctx, db, former.Token, nil, nothing); !errors.Is(err, fencedb.ErrStale) {
				t.Fatal(err)
			}
		}
		if err := guards.InScope(ctx, db, fencedbtest.Granted("orders", 2, "impostor"), nil, nothing); fencedb.ResultOf(err) != fencedb.Conflict {
			t.Fatal(err)
		}
		recorder.Observer().Decide(ctx, fencedb.Decision{Operation: "update", Table: "jobs", Key: "id='\xff\x00'", Resource: "orders", Presented: 9, Grant: "x", Result: fencedb.NotGranted})
		recorder.Observer().Decide(ctx, fencedb.Decision{Resource: "orders", Result: fencedb.Missing})
		if err := recorder.Close(ctx); err != nil {
			t.Fatal(err)
		}
		if recorder.Dropped() != 0 || recorder.Err() != nil {
			t.Errorf("%d dropped, %v", recorder.Dropped(), recorder.Err())
		}
		rows, err := db.Query("SELECT version, resource, operation, row_key, presented_token, presented_grant, current_token, result, build FROM " + leases.table("fence_rejections") + " ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var got []string
		for rows.Next() {
			var resource, operation, key, grant, result, build string
			var version, presented, current int64
			if err := rows.Scan(&version, &resource, &operation, &key, &presented, &grant, &current, &result, &build); err != nil {
				t.Fatal(err)
			}
			if grant == former.Token.Grant() {
				grant = "former"
			}
			got = append(got, fmt.Sprintf("%d %s %s %q %d/%s %d %s %s", version, resource, operation, key, presented, grant, current, result, build))
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		stale := `1 orders enter "" 1/former 2 stale v1.2.3`
		want := []string{stale, stale, stale, `1 orders enter "" 2/impostor 2 conflict v1.2.3`, `1 orders update "id='` + "\ufffd\ufffd" + `'" 9/x 0 not_granted v1.2.3`}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the rows are\n%q, want\n%q", got, want)
		}
		list, err := c.List(ctx)
		if err != nil || len(list) != 2 || list[0].Rejected != 5 || list[1].Rejected != 0 || time.Since(list[0].LastRejected).Abs() > time.Minute || !list[1].LastRejected.IsZero() {
			t.Errorf("%+v, %v, want five rejections of orders", list, err)
		}
		if _, err := c.Cleanup(ctx, time.Hour); err != nil {
			t.Fatal(err)
		}
		if list, err := c.List(ctx); err != nil || list[0].Rejected != 5 {
			t.Errorf("a clean-up has deleted young rejections: %+v, %v", list, err)
		}
		if _, err := c.Cleanup(ctx, 0); err != nil {
			t.Fatal(err)
		}
		if list, err := c.List(ctx); err != nil || list[0].Rejected != 0 {
			t.Errorf("a clean-up has left old rejections: %+v, %v", list, err)
		}
		recorder.Observer().Decide(ctx, fencedb.Decision{Resource: "orders", Result: fencedb.Stale})
		if err := recorder.Close(ctx); err != nil || recorder.Dropped() != 1 {
			t.Errorf("after it was closed: %v, %d dropped", err, recorder.Dropped())
		}
		db.idle(t)
	})
}

// A recorder whose database stands still drops, counts, and keeps nobody waiting.
func TestSQLLeaseRecorderDrops(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		leases := db.leases(t)
		other, tap := db.tapped(t)
		entered, release := make(chan struct{}, 100), make(chan struct{})
		tap.before = func(string) error { entered <- struct{}{}; <-release; return errors.New("no answer") }
		recorder := sqllease.NewRecorder(leases.on(other), sqllease.Queue(2))
		stale := fencedb.Decision{Resource: "r", Result: fencedb.Stale}
		recorder.Observer().Decide(t.Context(), stale)
		<-entered // it is being written
		began := time.Now()
		for range 10 {
			recorder.Observer().Decide(t.Context(), stale)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("ten decisions took %v", took)
		}
		if n := recorder.Dropped(); n != 8 {
			t.Errorf("%d were dropped, want 8 of 10 by a queue of 2", n)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := recorder.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("closed: %v, want the context's error", err)
		}
		if n := recorder.Dropped(); n != 11 || recorder.Err() == nil {
			t.Errorf("%d were dropped, want all 11; %v", n, recorder.Err())
		}
		close(release)
		other.idle(t)
	})
}
