package main

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fencelint/fence/fencedb"

	"example.com/demo/right"
	"example.com/demo/wrong"
)

// The order of events is fixed, so the output is too.
func TestRun(t *testing.T) {
	const want = `wrong: the lease is checked, then the schedule is written
  ada owns the lease and is about to write ada's plan
  ada pauses; her lease runs out
  bo takes over and writes bo's plan
  ada wakes up and writes: accepted
  the schedule is now: ada's plan
right: the write itself compares the token
  ada owns the lease and is about to write ada's plan
  ada pauses; her lease runs out
  bo takes over and writes bo's plan
  ada wakes up and writes: fencedb: stale token 1 of schedule:daily in schedules (day=monday): 2 is known
  the schedule is now: bo's plan
`
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// full is all that both versions do.
type full interface {
	scheduler
	Renew(context.Context) error
	Reap(context.Context) error
	Publish(ctx context.Context, day string) error
	Release(context.Context) error
}

// state is everything that a write may change, except the time.
type state struct {
	Owner, Plan, State string
	Held               bool
}

func stateOf(t *testing.T, db *sql.DB) state {
	t.Helper()
	var s state
	err := db.QueryRowContext(t.Context(), `SELECT l.owner, l.expires_at > unixepoch(), s.plan, s.state
		FROM leases l, schedules s WHERE l.name = 'schedule:daily' AND s.day = ?`, day).Scan(&s.Owner, &s.Held, &s.Plan, &s.State)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// players returns a database whose owner was ada, who has renewed, and is bo,
// who has written.
func players(t *testing.T, newScheduler func(*sql.DB, string) full) (db *sql.DB, ada, bo full) {
	t.Helper()
	db, err := open(t.Context(), filepath.Join(t.TempDir(), "demo.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	ada, bo = newScheduler(db, "ada"), newScheduler(db, "bo")
	_, err = db.ExecContext(t.Context(), schema)
	for _, err := range []error{
		err,
		ada.Acquire(t.Context()),
		ada.Renew(t.Context()),
		expire(t.Context(), db),
		bo.Acquire(t.Context()),
		bo.Save(t.Context(), day, "bo's plan"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return db, ada, bo
}

func newWrong(db *sql.DB, id string) full { return wrong.New(db, id, ttl) }
func newRight(db *sql.DB, id string) full { return right.New(db, id, ttl) }

// Nothing that ada still does changes anything of bo's.
func TestRightRejectsTheStaleOwner(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(full) error
		want error
	}{
		{"acquire", func(s full) error { return s.Acquire(t.Context()) }, right.ErrNotOwner},
		{"save", func(s full) error { return s.Save(t.Context(), day, "ada's plan") }, fencedb.ErrStale},
		{"publish", func(s full) error { return s.Publish(t.Context(), day) }, fencedb.ErrStale},
		{"renew", func(s full) error { return s.Renew(t.Context()) }, right.ErrNotOwner},
		{"reap", func(s full) error { return s.Reap(t.Context()) }, nil},
		{"release", func(s full) error { return s.Release(t.Context()) }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			db, ada, _ := players(t, newRight)
			before := stateOf(t, db)
			if err := test.do(ada); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if after := stateOf(t, db); after != before {
				t.Errorf("changed %+v to %+v", before, after)
			}
		})
	}
}

func TestRightLetsTheOwnerWork(t *testing.T) {
	db, _, bo := players(t, newRight)
	for _, err := range []error{
		bo.Renew(t.Context()),
		bo.Save(t.Context(), day, "bo's second plan"),
		bo.Publish(t.Context(), day),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if got, want := stateOf(t, db), (state{"bo", "bo's second plan", "published", true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := bo.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if got, want := stateOf(t, db), (state{"", "bo's second plan", "published", false}); got != want {
		t.Errorf("after the release: got %+v, want %+v", got, want)
	}
}

// The tests above can fail: the flag that ada's last renewal set lets her
// publish what bo has written.
func TestWrongLetsTheStaleOwnerPublish(t *testing.T) {
	db, ada, _ := players(t, newWrong)
	if err := ada.Publish(t.Context(), day); err != nil {
		t.Fatal(err)
	}
	if got, want := stateOf(t, db), (state{"bo", "bo's plan", "published", true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
