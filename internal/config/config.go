// Package config answers one question: what did the user say in fence.yaml and
// in directives about what is protected, and by what?
package config

import (
	"github.com/fencelint/fence/internal/sqlstmt"
)

// Pos is a place in a file the user wrote. Line and Column start at 1; columns
// count bytes, as in go/token.
type Pos struct {
	File         string
	Line, Column int
}

// Name is a name the user wrote: a Go object as in go doc
// ("path/to/pkg.Type.Method", "path/to/pkg.Func", "path/to/pkg.Type.Field") or,
// where columns are allowed, "table.column".
type Name struct {
	Text string
	Pos  Pos
}

// Rule says how a fence column is compared.
type Rule string

// The rules: Monotonic accepts a write iff fence <= token, Equal iff column = token.
const (
	Monotonic Rule = "monotonic"
	Equal     Rule = "equal"
)

// Level is what happens with a check's findings.
type Level string

// The levels.
const (
	Off     Level = "off"
	Warning Level = "warning"
	Error   Level = "error"
)

// Config is one decoded fence.yaml. The zero Config is what a module without
// one has.
type Config struct {
	File         string // as given to Load; empty for the zero Config
	Dialect      sqlstmt.Dialect
	Schema       []Name // files and directories, relative to the file's directory
	FenceColumns []FenceColumn
	Tables       []Table // in file order
	Guards       []Guard // in file order
	Writers      []Name
	Resources    []Resource
	Tokens       []Name
	Grants       []Name
	Leases       Leases
	Effects      Effects
	Checks       map[string]Level
	Strict       bool
	Exclude      []Name
	Analyze      []Name
	Generate     *Generate

	digest string // of the file's bytes
}

// FenceColumn is a column name that protects every table it stands in.
type FenceColumn struct {
	Name Name
	Rule Rule
}

// Table is what the schema alone does not say about a table.
type Table struct {
	Name     Name
	Fence    string
	Rule     Rule // monotonic where only Fence is given; empty where neither is
	Resource string
	Guard    string // a guard table, or "transaction"
	Protect  bool
	Enforced string // "trigger"
	Open     []Name
}

// Guard is a table a transaction may lock instead of a column on every row.
type Guard struct {
	Table                     Name
	Resource, Token, GrantCol string
}

// Resource is something protected that is not a table.
type Resource struct {
	Name                 Name
	Writes, Fenced, Keys []Name
}

// Leases describes home-made leases that no shape gives away.
type Leases struct {
	Checks, Acquire, Renew, Release, Lost, Callbacks, Expiries, Clocks []Name
}

// Effects describes actions outside the database.
type Effects struct {
	Idempotency, FenceHeaders, Calls []Name
}

// Generate is for fence gen.
type Generate struct {
	Package, Dir string
	Driver       string // "database/sql" or "pgx"; empty: database/sql
	Tests        bool
	// Schema is "runtime" if the schema of the tables is chosen when the program runs.
	Schema     string
	Overrides  []Override
	Migrations string // the directory for migrations; empty: none are written
	Format     string // of migrations: "goose", "golang-migrate", "dbmate" or "plain"; empty: as in the directory
}

// Override gives columns a Go type of their own.
type Override struct {
	Pos    Pos
	Type   string // of the database; empty if Column is given
	Column string // table.column
	Go     string // "string", "github.com/shopspring/decimal.Decimal"
}
