package storetest

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/sqllease"
)

// stopped is the context of a process that was stopped: its time has run out, and nobody is
// told.
type stopped struct {
	context.Context
	deadline time.Time
}

func (s stopped) Deadline() (time.Time, bool) { return s.deadline, true }
func (s stopped) Done() <-chan struct{}       { return nil }
func (s stopped) Err() error                  { return nil }

// A process that is stopped in the middle of a grant, with its connection open, keeps the rest
// of the namespace waiting for no longer than its attempt would have lasted: the server gives
// its transaction up.
func TestSQLLeaseFrozenGrant(t *testing.T) {
	const attempt = time.Second
	// The session's own limits are longer.
	generous := map[fencedb.Dialect]string{
		fencedb.Postgres: "&lock_timeout=60000&idle_in_transaction_session_timeout=60000",
		fencedb.MariaDB:  "?innodb_lock_wait_timeout=60&idle_transaction_timeout=60&idle_write_transaction_timeout=60",
		fencedb.MySQL:    "?innodb_lock_wait_timeout=60",
	}
	eachServer(t, func(t *testing.T, db database) {
		db.source += generous[db.dialect]
		db.SetMaxOpenConns(20)
		leases := db.leases(t)
		counting, tap := db.tapped(t)
		mustAcquire(t, leases.on(counting), ask("counted", time.Minute))
		steps := tap.steps.Load()
		for step := int64(1); step <= steps; step++ {
			t.Run(fmt.Sprint(step), func(t *testing.T) {
				t.Parallel()
				other, tap := db.tapped(t)
				namespace := sqllease.Namespace(fmt.Sprintf("ns%d", step))
				frozen := leases.on(other, namespace)
				resource := fmt.Sprintf("r%d", step)
				wake := make(chan struct{})
				reached := make(chan string)
				tap.before = func(text string) error {
					if tap.steps.Load() == step {
						reached <- text[:min(len(text), 50)]
					}
					if tap.steps.Load() >= step {
						<-wake
					}
					return nil
				}
				ctx := stopped{t.Context(), time.Now().Add(attempt)}
				done := make(chan error, 1)
				go func() {
					_, err := frozen.Acquire(ctx, ask(resource, time.Minute))
					done <- err
				}()
				text := <-reached
				// MariaDB counts in seconds.
				waiting, cancel := context.WithTimeout(t.Context(), 2*attempt+3*time.Second)
				defer cancel()
				c := leases.open(namespace)
				if _, err := c.Acquire(waiting, ask(resource+"-other", time.Minute)); err != nil {
					t.Errorf("another resource, while a process is stopped before %q: %v", text, err)
				}
				if _, err := c.Acquire(waiting, ask(resource, time.Minute)); err != nil && !errors.Is(err, fencedb.ErrHeld) {
					t.Errorf("the resource, while a process is stopped before %q: %v", text, err)
				}
				close(wake)
				// Its transaction had not begun, is made again, or was committed.
				if err := <-done; errors.Is(err, fencedb.ErrRefused) {
					t.Errorf("what it comes to when it goes on: %v", err)
				}
				if o, err := c.Observe(t.Context(), resource); err != nil || !o.Held {
					t.Errorf("after it went on: %+v, %v", o, err)
				}
				other.idle(t)
			})
		}
	})
}

// A process that is stopped while its grant waits for a lock does not get the lock later on,
// when nobody waits for the answer.
func TestSQLLeaseFrozenWait(t *testing.T) {
	const attempt = time.Second
	eachServer(t, func(t *testing.T, db database) {
		leases := db.leases(t)
		c := leases.open()
		mustAcquire(t, c, ask("makes-the-counter", time.Minute))
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback() }()
		if _, err := tx.Exec("UPDATE " + leases.table("fence_namespaces") + " SET counter = counter"); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		began := time.Now()
		go func() {
			_, err := c.Acquire(stopped{t.Context(), began.Add(attempt)}, ask("r", time.Minute))
			done <- err
		}()
		select {
		case err := <-done:
			if !errors.Is(err, fencedb.ErrRetryable) {
				t.Errorf("%v, want ErrRetryable", err)
			}
			if took := time.Since(began); took < attempt/2 {
				t.Errorf("it waited for %v", took)
			}
		case <-time.After(10 * time.Second):
			t.Error("the server still waits for the lock")
		}
	})
}

// A process that wakes up when its time is over sends nothing any more, and says what it was
// told last: by a connection that the server has closed meanwhile, say.
func TestSQLLeaseWokenLate(t *testing.T) {
	eachServer(t, func(t *testing.T, db database) {
		leases := db.leases(t)
		g := mustAcquire(t, leases.open(), ask("r", time.Minute))
		other, tap := db.tapped(t)
		c := leases.on(other)
		if _, err := c.Observe(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		tap.before = func(string) error {
			time.Sleep(300 * time.Millisecond)
			return driver.ErrBadConn
		}
		tap.steps.Store(0)
		renew := func() error {
			_, err := c.Renew(stopped{t.Context(), time.Now().Add(200 * time.Millisecond)}, fencedb.RenewRequest{Token: g.Token, TTL: time.Minute})
			return err
		}
		if err := renew(); !errors.Is(err, driver.ErrBadConn) || errors.Is(err, fencedb.ErrNotSent) || tap.steps.Load() != 1 {
			t.Errorf("%d statements, %v, want one, and what it came to", tap.steps.Load(), err)
		}
		tap.before = nil
		ctx := stopped{t.Context(), time.Now().Add(-time.Second)}
		if _, err := c.Renew(ctx, fencedb.RenewRequest{Token: g.Token, TTL: time.Minute}); !errors.Is(err, fencedb.ErrNotSent) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want ErrNotSent", err)
		}
	})
}

// What limits a grant's transaction is not left in the connection.
func TestSQLLeaseLimitsAreLocal(t *testing.T) {
	settings := map[fencedb.Dialect]string{
		fencedb.Postgres: "SELECT current_setting('lock_timeout') || ' ' || current_setting('idle_in_transaction_session_timeout')",
		fencedb.MariaDB:  "SELECT CONCAT(@@innodb_lock_wait_timeout, ' ', @@wait_timeout, ' ', @@idle_write_transaction_timeout)",
		fencedb.MySQL:    "SELECT CONCAT(@@innodb_lock_wait_timeout, ' ', @@wait_timeout)",
	}
	eachServer(t, func(t *testing.T, db database) {
		leases := db.leases(t)
		other, tap := db.tapped(t)
		other.SetMaxOpenConns(1)
		read := func() (all string) {
			t.Helper()
			if err := other.QueryRow(settings[db.dialect]).Scan(&all); err != nil {
				t.Fatal(err)
			}
			return all
		}
		before := read()
		c := leases.on(other)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := c.Acquire(ctx, ask("r", time.Minute)); err != nil {
			t.Fatal(err)
		}
		if now := read(); now != before {
			t.Errorf("after a grant %s, before it %s", now, before)
		}
		// Also where the transaction is given up, at each step.
		for stop := int64(1); ; stop++ {
			tap.steps.Store(0)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			tap.before = func(string) error {
				if tap.steps.Load() == stop {
					cancel()
				}
				return nil
			}
			_, err := c.Break(ctx, sqllease.BreakRequest{Resource: "r", Actor: "a", Reason: "r"})
			ended := ctx.Err() != nil
			cancel()
			tap.before = nil
			other.idle(t)
			if now := read(); now != before {
				t.Errorf("after step %d failed %s, before it %s", stop, now, before)
			}
			if !ended {
				if err != nil && !errors.Is(err, fencedb.ErrReleased) {
					t.Error(err)
				}
				break
			}
		}
	})
}
