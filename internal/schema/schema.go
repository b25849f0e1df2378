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
	Name       string
	Type       string // as written, lower case, without length: "character varying", "bigint", "text[]"
	Pos        config.Pos
	NotNull    bool
	HasDefault bool
	Generated  bool               // GENERATED ALWAYS AS (...) or identity always
	Directives []config.Directive // -- fence:token, -- fence:expiry
}

// Trigger is a row trigger on a table.
type Trigger struct {
	Name   string
	Events []string // "insert", "update", "delete", "truncate"
	Before bool
	Body   string // the text of its body or of the function it calls, as written; empty if that is not in the schema
	Pos    config.Pos
}

// Table returns the table of that name, schema-qualified or not, in any case;
// nil if there is none or if the bare name is ambiguous.
func (s *Schema) Table(schema, name string) *Table { return nil }

// Column returns the column of that name in any case, or nil.
func (t *Table) Column(name string) *Column { return nil }
