package sqllease

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fencelint/fence/fencedb"
)

// A SchemaError says that the tables are not those that this package needs. It matches
// [fencedb.ErrRefused].
type SchemaError struct {
	Dialect fencedb.Dialect
	Have    int // the version of the tables, 0 if there are none
	Want    int // SchemaVersion
	// Problem says what is wrong if the version is the right one: tables that a crash empties.
	Problem string
}

// Error says what is there and what to do.
func (e *SchemaError) Error() string {
	switch {
	case e.Have == 0:
		return fmt.Sprintf("sqllease: the database has no lease tables: call Migrate, run fence lease migrate, or use the files of sqllease.Migrations(%q)", e.Dialect)
	case e.Have < e.Want:
		return fmt.Sprintf("sqllease: the lease tables are of version %d, this program needs %d: call Migrate, run fence lease migrate, or use the files of sqllease.Migrations(%q) that are missing", e.Have, e.Want, e.Dialect)
	case e.Have > e.Want:
		return fmt.Sprintf("sqllease: the lease tables are of version %d, this program knows %d: a newer one has migrated them. Update this program; tables are never taken back", e.Have, e.Want)
	}
	return "sqllease: " + e.Problem
}

// Is makes a SchemaError match [fencedb.ErrRefused].
func (e *SchemaError) Is(target error) bool { return target == fencedb.ErrRefused }

// A fault is what an error of a database means here.
type fault int

const (
	unknown fault = iota
	again         // the transaction was given up in favour of another one: it may be repeated at once
	busy          // nothing was done: something was waited for in vain, or the transaction was given up
	missing       // a table, a column or a variable is not there
)

// faults are the codes of those errors: SQLSTATE of PostgreSQL, numbers of MariaDB and MySQL.
var faults = map[string]fault{
	"40001": again, "40P01": again, // serialization failure, deadlock
	"55P03": busy, "25P03": busy, // lock not available, idle in transaction for too long
	"42P01": missing, "42703": missing, // undefined table, column
	"1020": again, "1213": again, // the row has changed since it was read, deadlock
	"1205": busy,                                      // lock wait timeout
	"1146": missing, "1054": missing, "1193": missing, // table, column, variable
}

// faultOf reads an error of any driver, none of which this module requires: PostgreSQL's have
// their code in a method, MariaDB's in their text, SQLite's in both.
func faultOf(d fencedb.Dialect, err error) fault {
	var state interface{ SQLState() string }
	var code interface{ Code() int }
	text := err.Error()
	switch {
	case d == fencedb.Postgres && errors.As(err, &state):
		return faults[state.SQLState()]
	case d == fencedb.MariaDB || d == fencedb.MySQL:
		for e := err; e != nil; e = errors.Unwrap(e) {
			var number int
			if n, _ := fmt.Sscanf(e.Error(), "Error %d", &number); n == 1 {
				return faults[fmt.Sprint(number)]
			}
		}
	case d == fencedb.SQLite:
		const sqliteBusy, sqliteLocked = 5, 6 // sqlite.org/rescode.html
		switch {
		case errors.As(err, &code) && (code.Code()&0xff == sqliteBusy || code.Code()&0xff == sqliteLocked),
			strings.Contains(text, "database is locked"), strings.Contains(text, "database table is locked"):
			return busy
		case strings.Contains(text, "no such table: "), strings.Contains(text, "no such column: "):
			return missing
		}
	}
	return unknown
}

// refused says that asking again does not help.
func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %w", fencedb.ErrRefused, fmt.Errorf(format, args...))
}
