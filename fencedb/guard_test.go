package fencedb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fencelint/fence/fencedb"
)

func TestQuote(t *testing.T) {
	for _, c := range []struct {
		dialect    fencedb.Dialect
		name, want string
		err        string
	}{
		{fencedb.Postgres, `orders`, `"orders"`, ""},
		{fencedb.Postgres, `a"b`, `"a""b"`, ""},
		{fencedb.SQLite, `select`, `"select"`, ""},
		{fencedb.MariaDB, "a`b", "`a``b`", ""},
		{fencedb.MySQL, `a"b`, "`a\"b`", ""},
		{fencedb.Postgres, ``, ``, "empty"},
		{fencedb.Postgres, strings.Repeat("x", 64), ``, "64 bytes"},
		{fencedb.Postgres, "a\x00b", ``, "NUL"},
		{"oracle", "a", ``, `no dialect is called "oracle"`},
	} {
		got, err := c.dialect.Quote(c.name)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: Quote(%q) = %q, %v; want %q, %q", c.dialect, c.name, got, err, c.want, c.err)
		}
	}
}

func TestNewGuardTable(t *testing.T) {
	g, err := fencedb.NewGuardTable(fencedb.Postgres, fencedb.InSchema(`my "schema"`), fencedb.InTable("guards"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(g.Schema(), `EXISTS "my ""schema"""."guards" (`) {
		t.Errorf("Schema: %s", g.Schema())
	}
	for _, opts := range [][]fencedb.GuardTableOption{{fencedb.InTable("")}, {fencedb.InSchema("a\x00")}} {
		if _, err := fencedb.NewGuardTable(fencedb.SQLite, opts...); err == nil {
			t.Error("a name that cannot be quoted was taken")
		}
	}
	if _, err := fencedb.NewGuardTable("oracle"); err == nil {
		t.Error("a dialect that does not exist was taken")
	}
}

// never begins nothing: a zero token is refused before the database is touched.
type never struct{ t *testing.T }

func (n never) BeginTx(context.Context, *sql.TxOptions) (*sql.Tx, error) {
	n.t.Error("the database was touched")
	return nil, errors.New("never")
}

func TestZeroTokenEntersNothing(t *testing.T) {
	var seen []fencedb.Decision
	g, err := fencedb.NewGuardTable(fencedb.SQLite, fencedb.ObservedBy(&fencedb.Observer{
		Decision: func(_ context.Context, d fencedb.Decision) { seen = append(seen, d) },
	}))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, err := range []error{
		g.InScope(ctx, never{t}, fencedb.Token{}, nil, func(*sql.Tx) error { return nil }),
		g.Raise(ctx, never{t}, fencedb.Token{}),
		g.On(never{t}).Raise(ctx, fencedb.Token{}),
	} {
		if !errors.Is(err, fencedb.ErrInvalidToken) {
			t.Errorf("the zero token: %v", err)
		}
	}
	for _, d := range seen {
		if d.Result != fencedb.Invalid {
			t.Errorf("the observer was told %q", d.Result)
		}
	}
	if len(seen) != 3 {
		t.Errorf("the observer was told of %d decisions, want 3", len(seen))
	}
}

func TestResultOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want fencedb.Result
	}{
		{nil, fencedb.Accepted},
		{&fencedb.StaleError{}, fencedb.Stale},
		{fmt.Errorf("w: %w", &fencedb.ConflictError{}), fencedb.Conflict},
		{fencedb.ErrNotFound, fencedb.Missing},
		{fencedb.ErrNotGranted, fencedb.NotGranted},
		{fencedb.ErrWrongResource, fencedb.WrongResource},
		{fencedb.ErrInvalidToken, fencedb.Invalid},
		{sql.ErrConnDone, fencedb.Failed},
	} {
		if got := fencedb.ResultOf(c.err); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
}

func TestChange(t *testing.T) {
	for _, c := range []struct {
		change fencedb.Change[string]
		arg    any
		sets   bool
	}{
		{fencedb.Change[string]{}, nil, false},
		{fencedb.Set(""), "", true},
		{fencedb.Set("final"), "final", true},
		{fencedb.Null[string](), nil, true},
	} {
		arg, sets := c.change.Arg()
		if arg != c.arg || sets != c.sets || c.change.IsZero() == c.sets {
			t.Errorf("%v: %v, %t", c.change, arg, sets)
		}
	}
}
