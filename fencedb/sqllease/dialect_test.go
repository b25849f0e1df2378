package sqllease

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fencelint/fence/fencedb"
)

// What is written into a text cannot end the literal it is in, whatever it holds.
func FuzzInline(f *testing.F) {
	for _, s := range []string{"", "r", `it's "so" \`, "$1 ? ?1", "\x00\xff", "größe"} {
		f.Add(s, int64(-7))
	}
	d := dialects[fencedb.MariaDB]
	f.Fuzz(func(t *testing.T, s string, n int64) {
		text, args, err := d.arguments("a = $1, b = $2, c = $3, d = $1", []any{s, n, nil})
		if want := fmt.Sprintf("a = _utf8mb4 x'%x', b = %d, c = NULL, d = _utf8mb4 x'%x'", s, n, s); err != nil || args != nil || text != want {
			t.Errorf("%q, %v, %v, want %q", text, args, err, want)
		}
	})
}

func TestInlineRefuses(t *testing.T) {
	d := dialects[fencedb.MariaDB]
	for _, test := range []struct {
		text string
		args []any
	}{{"$2", []any{"a"}}, {"$0", []any{"a"}}, {"$", []any{"a"}}, {"$1", []any{1}}, {"$99999999999999999999", []any{"a"}}} {
		if text, _, err := d.arguments(test.text, test.args); err == nil {
			t.Errorf("%q with %v became %q", test.text, test.args, text)
		}
	}
}

type stateError string

func (e stateError) Error() string    { return "failed" }
func (e stateError) SQLState() string { return string(e) }

type codeError int

func (e codeError) Error() string { return "failed" }
func (e codeError) Code() int     { return int(e) }

func TestFaults(t *testing.T) {
	for _, test := range []struct {
		dialect fencedb.Dialect
		err     error
		want    fault
	}{
		{fencedb.Postgres, stateError("40001"), again},
		{fencedb.Postgres, fmt.Errorf("writing: %w", stateError("40P01")), again},
		{fencedb.Postgres, stateError("42P01"), missing},
		{fencedb.Postgres, stateError("23505"), unknown},
		{fencedb.Postgres, errors.New("Error 1213 (40001): Deadlock"), unknown},
		{fencedb.MariaDB, fmt.Errorf("writing: %w", errors.New("Error 1213 (40001): Deadlock found")), again},
		{fencedb.MariaDB, errors.New("Error 1205: Lock wait timeout exceeded"), busy},
		{fencedb.MySQL, errors.New("Error 1146 (42S02): Table 'a.fence_leases' doesn't exist"), missing},
		{fencedb.MariaDB, errors.New("Error 1062 (23000): Duplicate entry 'Error 1213'"), unknown},
		{fencedb.SQLite, codeError(5 | 2<<8), busy},
		{fencedb.SQLite, codeError(1), unknown},
		{fencedb.SQLite, errors.New("SQL logic error: no such table: fence_leases (1)"), missing},
		{fencedb.SQLite, errors.New("database is locked"), busy},
		{fencedb.SQLite, driver.ErrBadConn, unknown},
	} {
		if got := faultOf(test.dialect, test.err); got != test.want {
			t.Errorf("%s: %v is %d, want %d", test.dialect, test.err, got, test.want)
		}
	}
}

// Statements have every table by its quoted name, and SQLite's number their arguments.
func TestStatements(t *testing.T) {
	for d := range dialects {
		tables, err := names(d, `it's a "schema"`)
		if err != nil {
			t.Fatal(err)
		}
		s := statementsOf(d, tables, "NULL")
		for _, text := range []string{s.state, s.ensure, s.lock, s.begin, s.counter, s.write, s.renew, s.release, s.list, s.advance, s.audit, s.reject, s.version} {
			if text == "" || strings.ContainsRune(text, '@') || !strings.Contains(text, "schema") {
				t.Errorf("%s: %s", d, text)
			}
			if d == fencedb.SQLite == strings.ContainsRune(text, '$') && text != s.version {
				t.Errorf("%s: %s", d, text)
			}
		}
	}
}

func TestSchemaErrorSaysWhatToDo(t *testing.T) {
	for _, test := range []struct {
		err  SchemaError
		want string
	}{
		{SchemaError{Dialect: fencedb.SQLite, Want: 2}, `no lease tables: call Migrate, run fence lease migrate, or use the files of sqllease.Migrations("sqlite")`},
		{SchemaError{Have: 1, Want: 2}, "are of version 1, this program needs 2: call Migrate"},
		{SchemaError{Have: 3, Want: 2}, "are of version 3, this program knows 2: a newer one has migrated them. Update this program"},
		{SchemaError{Have: 2, Want: 2, Problem: "unlogged"}, "sqllease: unlogged"},
	} {
		if got := test.err.Error(); !strings.Contains(got, test.want) || !errors.Is(&test.err, fencedb.ErrRefused) {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
