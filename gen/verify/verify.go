// Package verify answers one question: what in a live database would make fencing fail?
//
// The catalogue of each dialect (postgres.go, mysql.go, sqlite.go) fills one description of
// the tables that matter; compare.go compares it with the plan and knows no dialect.
package verify

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/fencelint/fence/gen/plan"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/schema"
	"github.com/fencelint/fence/internal/sqlstmt"
)

var catalogues = map[sqlstmt.Dialect]catalogue{
	sqlstmt.Postgres: postgres,
	sqlstmt.MariaDB:  mysql,
	sqlstmt.MySQL:    mysql,
	sqlstmt.SQLite:   sqlite,
}

// A Kind is what is wrong.
type Kind string

// The kinds.
const (
	MissingTable    Kind = "missing-table"
	View            Kind = "view"
	PrimaryKey      Kind = "primary-key"      // another one than the schema's
	Engine          Kind = "engine"           // tables without transactions
	Unlogged        Kind = "unlogged"         // guard rows that a crash removes
	MissingColumn   Kind = "missing-column"   // one that a writer needs
	WrongType       Kind = "wrong-type"       // a token needs 64 bits
	Nullable        Kind = "nullable"         // what is compared
	Collation       Kind = "collation"        // two resources would share a guard row
	NotUnique       Kind = "not-unique"       // two guard rows for one resource
	OtherUnique     Kind = "other-unique"     // a statement could take another row
	NeedsValue      Kind = "needs-value"      // a column that inserts leave out
	Generated       Kind = "generated"        // a column that writers give
	MissingTrigger  Kind = "missing-trigger"  // of a table that says enforced: trigger
	DisabledTrigger Kind = "disabled-trigger" // the same
	AboveCounter    Kind = "above-counter"    // tokens the coordinator is yet to grant again
	SQLMode         Kind = "sql-mode"         // values are cut silently
)

// A Problem is one thing that would make fencing fail.
type Problem struct {
	Kind Kind
	// Pos is where the schema declares what is wrong; the zero Pos for what is of no table.
	Pos     config.Pos
	Table   string // with its schema if the DDL says one; empty for what is of no table
	Column  string // empty for what is of the whole table
	Message string // names table and column
	Fix     string
}

// Options say what else to look for.
type Options struct {
	// Counter is the largest token that the coordinator has granted. A larger one in the
	// database means that the coordinator will be rejected. Nil: it is not known.
	Counter *int64
}

// Database compares a database with the plan of its writers and the schema they were
// planned from. It only reads. Problems are in schema order, those of a table before
// those of its columns. Errors are the database's.
func Database(ctx context.Context, db *sql.DB, p *plan.Package, s *schema.Schema, opts Options) ([]Problem, error) {
	if _, ok := catalogues[p.Dialect]; !ok {
		return nil, fmt.Errorf("verifying a database of dialect %s: there is no catalogue for it", p.Dialect)
	}
	if err := db.PingContext(ctx); err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("beginning a transaction that only reads: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // there is nothing to commit
	live, err := describe(ctx, tx, p.Dialect, wanted(p), opts.Counter)
	if err != nil {
		return nil, err
	}
	return compare(p, s, live), nil
}

// wanted are the tables to describe.
func wanted(p *plan.Package) []want {
	var all []want
	if p.Guards != "" {
		all = append(all, want{name: guardsName(p), tokens: guardToken})
	}
	for _, t := range p.Tables {
		w := want{name: nameOf(p, t)}
		if t.Kind == plan.Row && t.Rule == config.Monotonic {
			w.tokens = t.Fence.Name
		}
		all = append(all, w)
	}
	return all
}
