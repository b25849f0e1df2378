// Package sqlstmt answers one question: what does this SQL text write, read,
// lock and compare?
//
// [Parse] turns one text in one dialect into values of this package's own, so
// that the three parsers behind it (one per dialect) can be replaced. A text may
// contain holes ([Hole]) where the analysis could not see a piece. Whatever a
// text leaves open is said in [Stmt.Unknown] or [Write.WhereUnknown]: the
// package never guesses and never panics.
package sqlstmt

import "strings"

// Hole stands in a text for a piece that is not known. It is a private-use
// code point, so no real SQL contains it.
const Hole = "\ue000"

// Dialect is a family of SQL.
type Dialect int

// The dialects. Unknown makes [Parse] try PostgreSQL, SQLite, MySQL and MariaDB,
// in this order.
const (
	Unknown Dialect = iota
	Postgres
	MySQL
	MariaDB
	SQLite
)

// Op is what a statement or one of its parts does.
type Op int

// The operations. Copy is COPY and LOAD DATA. Other is a statement that writes no
// table and matters to nobody here (SET, BEGIN, EXPLAIN); OpUnknown is a text that
// did not parse.
const (
	OpUnknown Op = iota
	Select
	Insert
	Update
	Delete
	Merge
	Copy
	Truncate
	DDL
	Other
)

// Script is one SQL text, parsed. A statement that is not understood keeps its
// place, with Op OpUnknown. Dialect is the one that was tried with success where
// [Unknown] was asked for.
type Script struct {
	Dialect Dialect
	Stmts   []Stmt
	// Err says why the text, or the rest of it, is not understood. Empty: all of it is.
	Err string
}

// Stmt is one statement.
type Stmt struct {
	Op     Op
	Writes []Write  // in text order, those of data-modifying CTEs included
	Query  *Query   // of a SELECT, nil otherwise
	CTEs   []*Query // SELECTs in WITH, of any statement
	Funcs  []string // lower-case names of all functions called anywhere, in text order, without duplicates
	Set    []string // names of settings changed by SET, set_config or PRAGMA
	// Isolation is the isolation level a BEGIN or SET TRANSACTION asks for, in
	// lower case ("serializable"), "" if it names none.
	Isolation string
	// Unknown lists what of the statement is out of sight, in words for a person.
	Unknown []string
}

// Table names a table. Dynamic says that part of the name is a hole; Name then
// holds the known part with [Hole] in it.
type Table struct {
	Schema, Name, Alias string
	Dynamic             bool
	Temp                bool // created as a temporary table earlier in the same text
}

// Write is one change of one table.
type Write struct {
	Op      Op
	Table   Table
	From    []Table  // further tables: UPDATE ... FROM, DELETE ... USING, MERGE source, a join's other tables
	Derived []Table  // further sources that are no tables, see [Query]
	Set     []Assign // UPDATE, MERGE's update arm, LOAD DATA; in text order, in which MySQL assigns
	Columns []string // INSERT, COPY, LOAD DATA: the columns named
	Values  [][]Expr // INSERT ... VALUES; nil for INSERT ... SELECT
	Source  *Query   // INSERT ... SELECT
	// Where holds the conditions that are all required (AND), also those of a
	// MERGE's matched arm.
	Where []Cond
	// WhereUnknown: a hole lies in or after the WHERE, so conditions may be
	// missing or be disabled by an OR.
	WhereUnknown bool
	Conflict     *Conflict // INSERT ... ON CONFLICT, ON DUPLICATE KEY UPDATE
	Replace      bool      // REPLACE, INSERT OR REPLACE, LOAD DATA REPLACE
	Ignore       bool      // INSERT OR IGNORE, INSERT IGNORE, LOAD DATA IGNORE or LOCAL
	Only         bool      // ONLY
	CurrentOf    bool      // WHERE CURRENT OF
	Matched      bool      // MERGE: has an arm that changes matched rows
	Returning    []Expr
	InCTE        bool
	Name         string   // of the CTE it is in
	Sub          []*Query // sub-selects anywhere in it, Source excluded
}

// Conflict is an upsert's second half.
type Conflict struct {
	DoNothing bool
	Target    []string // conflict columns; an expression or constraint is "?"; none in MySQL: any key
	Set       []Assign // in text order, in which MySQL assigns
	Where     []Cond
	// Next is a further ON CONFLICT clause, which only SQLite has. The first of
	// the chain is the one that guards least.
	Next *Conflict
}

// Assign is column = value.
type Assign struct {
	Column string
	Value  Expr
}

// Query is a SELECT.
type Query struct {
	Name   string // of the CTE, if it is one
	Output []Expr // in order; a star is Kind Star
	From   []Table
	// Derived holds the sources that are no tables: a CTE (Name, and Alias if it
	// has one), a sub-select (Alias alone; it is in Sub), a function (its name).
	Derived []Table
	Where   []Cond // AND-ed, ON of inner joins included
	Unknown bool   // a hole lies in FROM, WHERE or after
	Lock    Lock
	LockOf  []string // FOR UPDATE OF: the aliases it names; none: all of From
	SkipLocked,
	Nested bool // a sub-select or an arm of UNION
	Sub []*Query // sub-selects anywhere in it, and the arms of UNION
}

// Lock is the strength of a row lock.
type Lock int

// The strengths, weakest first.
const (
	NoLock Lock = iota
	ForKeyShare
	ForShare
	ForNoKeyUpdate
	ForUpdate
)

// Cond is one condition. Op is the operator as written ("=", "<>", "<", "<=",
// ">", ">=", "LIKE", "BETWEEN", ...) or one of "IN", "IS NULL", "IS NOT NULL",
// "EXISTS", "NOT EXISTS", "OR", "NOT", "BOOL" (Left alone), "UNKNOWN" (a hole). "!=" is
// given as "<>", "IS DISTINCT FROM" too, and "IS NOT DISTINCT FROM" and "<=>" as "=".
// BETWEEN is split into two conditions, a comparison of rows into its columns.
// A quantified comparison is "= ANY", "<= ALL" and so on (Right or Sub);
// "= ANY" of a list or a sub-select is IN.
type Cond struct {
	Op          string
	Left, Right Expr
	List        []Expr // IN with a list
	Any         []Cond // OR: its arms (an AND arm has Op "AND" and All); NOT: one
	All         []Cond // AND inside an OR
	Sub         *Query // IN (SELECT), EXISTS
}

// Kind tells what an expression is.
type Kind int

// The kinds of expressions.
const (
	OtherExpr Kind = iota
	Column         // Table (alias as written), Name
	Param          // N, or Name for :name and @name
	Literal        // Text; Name is string, number, bool, null, bits, blob or default
	Func           // Name (lower case), Args; also now(), current_timestamp, COALESCE, GREATEST, row, array and interval values
	Arith          // Name is the operator; Args has one or two
	Case           // Args: the results, ELSE last; Conds: one for each WHEN, so ELSE is Args[len(Conds)]; also IF(a, b, c)
	SubQuery       // Sub
	Exists         // Sub
	HoleExpr       // not known; Text holds the known part of a literal
	Star
	Compare // a comparison used as a value; Conds
)

// Expr is an expression as far as it matters here. Casts are dropped. An OtherExpr
// with a Name is a variable of a MySQL session: @name or @@name.
type Expr struct {
	Kind  Kind
	Table string // of a column, as written: the alias or name, "" if none; "excluded" for the row an upsert proposes
	Name  string
	N     int // of a parameter, from 1, in the order the driver binds them; 0 if a hole before it may bind some too
	Text  string
	Alias string // AS name
	Args  []Expr
	Sub   *Query
	Conds []Cond
}

// Walk calls f for e and every expression below it, sub-selects excluded.
func (e Expr) Walk(f func(Expr)) {
	f(e)
	for _, a := range e.Args {
		a.Walk(f)
	}
}

// Is tells whether t is the table name, in any case and whatever its schema.
func (t Table) Is(name string) bool { return !t.Dynamic && strings.EqualFold(t.Name, name) }
