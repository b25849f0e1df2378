package storetest

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
)

// What a database gives up in favour of another transaction is told from what is stale:
// it may be repeated, and then it is decided.
func TestGivenUpIsNotStale(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		w := db.writers(t)
		ctx := t.Context()
		token := fencedbtest.Token("docs", 5)
		newer := fencedbtest.Token("docs", 10)
		set := docsPatch{N: fencedb.Set[int64](9)}
		for _, test := range []struct {
			name    string
			dialect fencedb.Dialect
			params  string         // of the data source
			opts    *sql.TxOptions // of the transaction of the older
		}{
			{"40001", fencedb.Postgres, "", &sql.TxOptions{Isolation: sql.LevelRepeatableRead}},
			{"1020", fencedb.MariaDB, "&innodb_snapshot_isolation=ON", nil},
			{"SQLITE_BUSY_SNAPSHOT", fencedb.SQLite, "&_txlock=deferred", nil},
		} {
			if test.dialect != db.dialect {
				continue
			}
			t.Run(test.name, func(t *testing.T) {
				own, connect := db.withTables(t, "")
				other := connect(test.params)
				if err := w.docs(own, token).Insert(ctx, docsRow{"a", nil, 1}); err != nil {
					t.Fatal(err)
				}
				older, err := other.BeginTx(ctx, test.opts)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = older.Rollback() }()
				var n int64 // the snapshot is taken
				if err := older.QueryRowContext(ctx, "SELECT n FROM docs WHERE id = 'a'").Scan(&n); err != nil {
					t.Fatal(err)
				}
				if err := w.docs(own, newer).Update(ctx, docsKey{"a"}, docsPatch{}); err != nil {
					t.Fatal(err)
				}
				err = w.docs(older, token).Update(ctx, docsKey{"a"}, set)
				if !errors.Is(err, fencedb.ErrRetryable) || errors.Is(err, fencedb.ErrStale) {
					t.Errorf("on a snapshot from before: %v, want what may be repeated", err)
				}
				if err := older.Rollback(); err != nil {
					t.Fatal(err)
				}
				want(t, "repeated", w.docs(other, token).Update(ctx, docsKey{"a"}, set), fencedb.Stale, 10)
			})
		}
	})
}

// A deadlock is one of them.
func TestDeadlockIsRetryable(t *testing.T) {
	eachServer(t, func(t *testing.T, db database) {
		w := db.writers(t)
		own, _ := db.withTables(t, "")
		ctx := t.Context()
		token := fencedbtest.Token("docs", 5)
		for _, id := range []string{"a", "b"} {
			if err := w.docs(own, token).Insert(ctx, docsRow{id, nil, 1}); err != nil {
				t.Fatal(err)
			}
		}
		lock := func(first, second string, ready chan<- bool, meet <-chan bool) error {
			tx, err := own.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }()
			if err := w.docs(tx, token).Update(ctx, docsKey{first}, docsPatch{}); err != nil {
				return err
			}
			ready <- true
			<-meet
			if err := w.docs(tx, token).Update(ctx, docsKey{second}, docsPatch{}); err != nil {
				return err
			}
			return tx.Commit()
		}
		ready, meet, done := make(chan bool), make(chan bool), make(chan error)
		go func() { done <- lock("a", "b", ready, meet) }()
		go func() { done <- lock("b", "a", ready, meet) }()
		<-ready
		<-ready
		close(meet)
		errs := []error{<-done, <-done}
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Fatalf("one of two has to give up: %v", errs)
		}
		if err := errors.Join(errs...); !errors.Is(err, fencedb.ErrRetryable) {
			t.Errorf("%v is not to be repeated", err)
		}
	})
}

// A busy database is one of them too.
func TestBusyIsRetryable(t *testing.T) {
	own, connect := openSQLite(t).withTables(t, "")
	w := generated[fencedb.SQLite]
	ctx := t.Context()
	token := fencedbtest.Token("docs", 5)
	if err := w.docs(own, token).Insert(ctx, docsRow{"a", nil, 1}); err != nil {
		t.Fatal(err)
	}
	tx, err := own.BeginTx(ctx, nil) // immediate: it is the writer
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	impatient := connect("&_pragma=busy_timeout(0)")
	if err := w.docs(impatient, token).Update(ctx, docsKey{"a"}, docsPatch{}); !errors.Is(err, fencedb.ErrRetryable) {
		t.Errorf("beside a writer: %v", err)
	}
	if err := w.inScope(ctx, impatient, token, func(scope) error { return nil }); !errors.Is(err, fencedb.ErrRetryable) {
		t.Errorf("in a scope beside a writer: %v", err)
	}
}

// Why writers lock the guard row: a statement that only reads it, or a token compared
// before, lets a former owner's write land after the raise was acknowledged.
func TestGuardReadWithoutALock(t *testing.T) {
	eachServer(t, func(t *testing.T, db database) {
		w := db.writers(t)
		own, _ := db.withTables(t, "")
		ctx := t.Context()
		token, newer := fencedbtest.Token("notes", 5), fencedbtest.Token("notes", 6)
		if err := w.guard(own).Raise(ctx, token); err != nil {
			t.Fatal(err)
		}
		if err := w.inScope(ctx, own, token, func(s scope) error { return s.notes.Insert(ctx, notesRow{"a", nil}) }); err != nil {
			t.Fatal(err)
		}
		body := func() string {
			var s sql.NullString
			if err := own.QueryRow("SELECT body FROM notes WHERE id = 'a'").Scan(&s); err != nil {
				t.Error(err)
			}
			return s.String
		}
		// The former owner is between its look at the guard and its write.
		tx, err := own.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback() }()
		var known int64
		if err := tx.QueryRowContext(ctx, "SELECT token FROM fence_guards WHERE resource = 'notes'").Scan(&known); err != nil || known != 5 {
			t.Fatal(known, err)
		}
		raise(t, w, own, newer, time.Second)
		if _, err := tx.ExecContext(ctx, "UPDATE notes SET body = 'late' WHERE id = 'a'"); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if body() != "late" {
			t.Error("the twin that locks nothing was rejected, so this test shows nothing")
		}
		// The generated writer holds the raise up until its transaction ends.
		last := fencedbtest.Token("notes", 7)
		raised := make(chan error, 1)
		err = w.inScope(ctx, own, newer, func(s scope) error {
			go func() { raised <- w.guard(own).Raise(ctx, last) }()
			select {
			case err := <-raised:
				t.Errorf("the raise did not wait: %v", err)
				raised <- err
			case <-time.After(200 * time.Millisecond):
			}
			return s.notes.Update(ctx, docsKey{"a"}, notesPatch{fencedb.Set("in time")})
		})
		if err := errors.Join(err, <-raised); err != nil {
			t.Fatal(err)
		}
		want(t, "after the raise", w.inScope(ctx, own, newer, func(s scope) error { return s.notes.Delete(ctx, docsKey{"a"}) }), fencedb.Stale, 7)
		if body() != "in time" {
			t.Errorf("the row has %q", body())
		}
	})
}

// raise raises the guard within some time.
func raise(t *testing.T, w writerSet, db database, token fencedb.Token, within time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if err := w.guard(db).Raise(ctx, token); err != nil {
		t.Fatal(err)
	}
}
