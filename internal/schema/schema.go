// Package schema answers one question: which tables does this program's
// database have, and what do their columns, keys, triggers and comments say?
package schema

import (
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// Schema is what a set of SQL files and migration directories amounts to.
type Schema struct {
	Dialect sqlstmt.Dialect
	Tables  []*Table // in the order they were created
	Notes   []Note   // what was skipped, in input order
}

// Note is a statement that was skipped, and why.
type Note struct {
	Pos  config.Pos
	Text string
	// Problem: it was not understood, so that tables may be other than they seem. A
	// statement that has nothing to do with tables is none.
	Problem bool
	// Hides: it may make and change tables out of sight, as a DO block does. It is no
	// problem, but a table that is not in the schema may well be in the database.
	Hides bool
}

// Table is one table in its final state.
type Table struct {
	Schema, Name string
	Pos          config.Pos
	Columns      []*Column
	PrimaryKey   []string
	Uniques      [][]string // unique constraints and non-partial unique indexes on plain columns
	Triggers     []Trigger
	Directives   []config.Directive // -- fence:protect above or on the CREATE TABLE line
	Strict       bool               // SQLite STRICT
}

// Column is one column.
type Column struct {
	Name string
	Type string // as written, lower case, without length: "character varying", "bigint unsigned", "text[]"
	Base string // what a domain comes down to, "enum" for an enum type, else Type without "unsigned"; with its "[]"
	// Labels are those of an enum, or of the enum that a domain or the elements of an array
	// come down to, in its order.
	Labels     []string
	Enum       string // the name of that enum's type, with the schema it was made in; empty where it has none (MySQL)
	Pos        config.Pos
	NotNull    bool
	HasDefault bool
	Generated  bool               // GENERATED ALWAYS AS (...) or identity always
	Directives []config.Directive // -- fence:token, -- fence:expiry

	enum *enum // PostgreSQL's, until the schema is finished
}

// Trigger is a row trigger on a table.
type Trigger struct {
	Name   string
	Events []string // "insert", "update", "delete", "truncate"
	// UpdateOf lists the columns of UPDATE OF: updates that set none of them do
	// not fire it. Empty: every update does.
	UpdateOf []string
	Before   bool
	When     string // the text of its WHEN condition, as written; empty if it has none
	Body     string // the text of its body or of the function it calls, as written; empty if that is not in the schema
	Pos      config.Pos
}
