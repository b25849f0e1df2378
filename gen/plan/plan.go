// Package plan answers one question: with which SQL does the writer of each table change
// rows, and what does each outcome of a statement mean?
//
// What a dialect needs stands in dialect.go, which Go type a column has in types.go, what
// things are called in Go in names.go. Package emit prints Go from a plan and knows no SQL.
package plan

import (
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// A Package is what one fence.yaml has generated.
type Package struct {
	Name    string // of the Go package
	Dialect sqlstmt.Dialect
	Driver  string // "database/sql" or "pgx"
	Tests   bool
	// Guards is the table of guard rows, which scope writers lock; empty if there are
	// none.
	Guards string
	Tables []*Table // in schema order
	Enums  []*Enum  // that their columns have, in the same order
	// RuntimeSchema: the schema of the tables is chosen when the program runs; statements
	// have [SchemaMark] for it.
	RuntimeSchema bool
}

// SchemaMark stands in statements for a schema that is chosen at run time, and its dot.
const SchemaMark = "@schema."

// A Kind is where the token of a write is compared.
type Kind string

// The kinds.
const (
	Scope Kind = "scope" // on the guard row of the resource, locked in the transaction of the write
	Row   Kind = "row"   // on a column of the row, in the statement of the write
)

// A Table is one table and the statements of its writer.
type Table struct {
	Schema string // as its DDL says, empty if it does not
	Name   string
	GoName string
	Pos    config.Pos
	Kind   Kind
	Rule   config.Rule // of a row guard
	Fence  *Column     // of a row guard, else nil
	// Ordered: the fence is a number, compared with the token's. Else it is a text,
	// compared with the grant id.
	Ordered bool
	// Enforced: a trigger compares as well (fence.yaml: enforced: trigger), for whoever
	// writes. On PostgreSQL it takes the token from the setting fence.token.
	Enforced bool
	Key      []*Column // in the order of the primary key
	// Columns are all that a writer may give, in schema order: neither the fence nor what
	// the database always makes.
	Columns  []*Column
	Resource *Template // nil: the table is of whichever resource the token is for

	Insert Insert
	Update Update
	Upsert *Upsert // nil if the database makes a part of the key
	Delete Delete
	// Look reads, and locks, the row of a key after a statement changed none. Its columns
	// are Table.Looks.
	Look Statement
}

// A Column is a column that a writer gives.
type Column struct {
	Name   string
	GoName string
	Type   Type
	DB     string // its type in the database, as written in small letters
	Pos    config.Pos
	Null   bool // may be NULL
	Key    bool // part of the primary key
	// Optional columns may be left out of an insert: the database has a value for them.
	Optional bool
	// Made columns are always made by the database.
	Made bool
	// Fixed columns stay as they were inserted: parts of the key and of the resource.
	Fixed bool
}

// A Type is a Go type: a predeclared one or one of a package.
type Type struct {
	Import string // empty for a predeclared type
	Name   string // without its package: "Time", "[]byte"
	// Nils types have a nil that stands for NULL; others need a pointer for it.
	Nils bool
	// Bind is what makes of a value what is sent; empty: the value is.
	Bind Bind
	// Enum is the enum that Name is of; nil if it is of none.
	Enum *Enum
}

// A Bind is what makes of a value what a driver can send, or sends as it is meant. It is
// the name of a function that package emit has.
type Bind string

// The functions.
const (
	// ArrayOf writes a slice as an array of PostgreSQL: drivers know few of their types.
	ArrayOf Bind = "arrayOf"
	// DayOf is the date that a time shows, ClockOf the date and time: MySQL's driver sends a
	// time in the zone of its data source, where it may be another day, and PostgreSQL's in
	// UTC in some modes.
	DayOf   Bind = "dayOf"
	ClockOf Bind = "clockOf"
)

// An Enum is a type that lists its values.
type Enum struct {
	GoName string
	// Name is that of the type in the database, TABLE.COLUMN where it has none.
	Name   string
	Named  bool
	Labels []Label
	Pos    config.Pos // of the first column that has it
}

// A Label is a value of an enum.
type Label struct{ Text, GoName string }

// A Value is what a placeholder is bound to.
type Value int

// What can be bound.
const (
	OfColumn   Value = iota // the column's own value
	OfToken                 // the token's number
	OfGrant                 // the token's grant id
	OfResource              // the token's resource
)

// An Arg is bound to a placeholder.
type Arg struct {
	Value  Value
	Column *Column // for OfColumn
}

// A Segment is a part of a statement.
type Segment struct {
	Text string
	// Args are those of the placeholders in Text, in order. Where placeholders have
	// numbers, only a segment with If has one, at the end of its text, and the number is
	// not in it: it counts on from what was bound before.
	Args []Arg
	// If says that the segment is there only if a value is given for the column.
	If *Column
	// InList says that a ", " comes before it, unless what is before ends in "(" or " ".
	InList bool
}

// A Statement is the text of one statement, some of it only if a column is given.
type Statement struct {
	// First are the args bound first, where placeholders have numbers.
	First    []Arg
	Segments []Segment
	// Number stands before the number of a placeholder, "$"; empty where they have none.
	Number string
	// Empty is the statement, without args, if none of the segments with If is there;
	// empty if Segments make one also then.
	Empty string
	// Returns are the columns the statement answers with.
	Returns []*Column
}

// An Outcome is how the answer to a statement is read.
type Outcome int

const (
	// Counted says: one row affected is accepted. None was stale, missing or of another
	// resource: Look tells.
	Counted Outcome = iota
	// Matched says: one row affected, or a last insert id of the driver, is accepted: a row
	// that stays as it was does not count. Neither was stale, missing or of another resource,
	// or a trigger has hidden the id: Look tells.
	Matched
	// CountedChanges says: as Counted, but a row that the statement left as it was may not
	// count: if Look finds the row, the statement was accepted.
	CountedChanges
	// Done says: the statement has no other outcome than the database's error.
	Done
)

// Insert makes a row.
type Insert struct {
	Statement
	// MakesKey: the database makes a part of the key. Returns has it, unless KeyFromID.
	MakesKey bool
	// KeyFromID: the key is the driver's last insert id.
	KeyFromID bool
}

// Update changes the columns of a patch.
type Update struct {
	Statement
	Outcome Outcome
}

// Upsert makes a row, or changes the one of its key.
type Upsert struct {
	// Statement is one that does both; nil where the database could take another row for
	// it: then the update is sent, and the insert if there is no such row.
	*Statement
	Outcome Outcome
}

// Delete removes a row.
type Delete struct {
	Statement
	Outcome Outcome
}

// A Looked is one column of the answer of [Table.Look].
type Looked int

// What can be looked at.
const (
	LookedFence    Looked = iota // the fence of a row guard
	LookedResource               // whether the row is of the token's resource
	LookedAny                    // a constant: there is a row
)

// Looks are the columns of the answer of t.Look.
func (t *Table) Looks() []Looked {
	var looks []Looked
	if t.Kind == Row {
		looks = append(looks, LookedFence)
	}
	if t.Resource.inSQL() {
		looks = append(looks, LookedResource)
	}
	if len(looks) == 0 {
		looks = append(looks, LookedAny)
	}
	return looks
}

// Patched are the columns that a patch may change.
func (t *Table) Patched() []*Column {
	var cs []*Column
	for _, c := range t.Columns {
		if !c.Fixed {
			cs = append(cs, c)
		}
	}
	return cs
}
