package fencedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/fencelint/fence/fencedb/protocol"
)

// DefaultGuardTable is the name of the table of guard rows unless another is given.
const DefaultGuardTable = "fence_guards"

// A Guard is raised to a new holder's token before that holder reads or works, so that
// nothing below the token is accepted afterwards.
type Guard interface {
	// Raise returns nil once the guard knows t or has known it before. Errors that
	// match [ErrStale] or are a [*ConflictError] are final; others say nothing about
	// whether the guard was raised, and the raise may be repeated.
	Raise(ctx context.Context, t Token) error
}

// A GuardTable is the guard rows of one database: a table with one row for each resource,
// which holds the largest token that was raised. A write in a scope locks the row and
// compares its token with it, in the write's own transaction; so once a raise has been
// committed, no transaction of an earlier holder commits any more, and one that was
// under way when the raise came was waited for.
//
// The guard row is never the row that renewals of a lease update: a renewal would wait
// for every write. A GuardTable is immutable; any number of goroutines may use one.
type GuardTable struct {
	dialect Dialect
	table   string // quoted, with its schema
	name    string // as it was given
	sql     guardStatements
	observe *Observer
}

// A GuardTableOption changes what [NewGuardTable] makes.
type GuardTableOption func(*guardTableConfig)

type guardTableConfig struct {
	schema, table string
	observe       *Observer
}

// InTable names the table of the guard rows: [DefaultGuardTable] without it. Any name is
// quoted.
func InTable(name string) GuardTableOption { return func(c *guardTableConfig) { c.table = name } }

// InSchema names the schema (in MariaDB and MySQL the database) of the table. Without
// it the connection decides: on PostgreSQL by its search_path, which an attacker, or a
// mistake, may change.
func InSchema(name string) GuardTableOption { return func(c *guardTableConfig) { c.schema = name } }

// ObservedBy has every decision of the guards told to o.
func ObservedBy(o *Observer) GuardTableOption { return func(c *guardTableConfig) { c.observe = o } }

// NewGuardTable returns the guard rows of a database. A dialect that does not exist and a
// name that cannot be quoted are errors. It does not connect to anything.
func NewGuardTable(d Dialect, opts ...GuardTableOption) (*GuardTable, error) {
	c := guardTableConfig{table: DefaultGuardTable}
	for _, o := range opts {
		o(&c)
	}
	table, err := d.Quote(c.table)
	if err != nil {
		return nil, err
	}
	g := &GuardTable{dialect: d, table: table, name: c.table, observe: c.observe}
	if c.schema != "" {
		schema, err := d.Quote(c.schema)
		if err != nil {
			return nil, err
		}
		g.table, g.name = schema+"."+table, c.schema+"."+c.table
	}
	g.sql = guardSQL[d].in(g.table)
	return g, nil
}

// Schema returns the statement that makes the table, if it is not there. Migrations
// hold it; [GuardTable.Create] is for tests and small programs.
func (g *GuardTable) Schema() string { return g.sql.schema }

// Create makes the table if it is not there.
func (g *GuardTable) Create(ctx context.Context, db Execer) error {
	if _, err := db.ExecContext(ctx, g.sql.schema); err != nil {
		return fmt.Errorf("fencedb: creating %s: %w", g.name, err)
	}
	return nil
}

// Enter locks the guard row of t's resource in tx, for reading, and compares its token
// with t. Nil says that nobody has a later grant, and that nobody will be granted one
// before tx ends: what tx writes until then is the present holder's. It has to come
// first in tx, so that nothing is read that a former holder wrote meanwhile.
//
// Errors: a [*StaleError] if the guard knows a larger token, a [*ConflictError] if it
// knows the same number from another grant, one that matches [ErrNotGranted] if it was
// never raised to t ([GuardTable.Raise] does it), [ErrInvalidToken] for the zero Token,
// which the database does not see, else the database's. After any of them tx has to be
// rolled back.
func (g *GuardTable) Enter(ctx context.Context, tx *sql.Tx, t Token) error {
	return g.EnterTx(ctx, sqlTx{tx}, t)
}

// EnterTx is [GuardTable.Enter] in a transaction of any driver.
func (g *GuardTable) EnterTx(ctx context.Context, tx Tx, t Token) error {
	current, err := g.enter(ctx, tx, t)
	g.tell(ctx, "enter", t, current, err)
	return err
}

func (g *GuardTable) enter(ctx context.Context, tx Tx, t Token) (current int64, err error) {
	if t.IsZero() {
		return 0, fmt.Errorf("%w: the zero token enters no scope", ErrInvalidToken)
	}
	known, err := g.row(ctx, tx, g.sql.enter, t.Resource())
	if err != nil {
		return 0, fmt.Errorf("fencedb: reading the guard of %s: %w", t.Resource(), err)
	}
	return known.token, g.compare(t, known)
}

// InScope runs fn in a transaction of its own that has entered t's scope, and commits
// it if fn returns nil. The transaction has the options opts (nil: the database's own)
// and ends with ctx. fn must neither commit nor roll it back, nor keep it.
//
// The error is [GuardTable.Enter]'s, fn's as it is, or the database's. A commit whose
// answer was lost is an error too: whether fn's writes are there is then for the
// program to find out, which is safe as long as t is not stale.
func (g *GuardTable) InScope(ctx context.Context, db Beginner, t Token, opts *sql.TxOptions, fn func(*sql.Tx) error) error {
	if t.IsZero() { // before the database is touched
		return g.Enter(ctx, nil, t)
	}
	return inTx(ctx, db, opts, "a write of "+t.Resource(), func(tx *sql.Tx) error {
		if err := g.Enter(ctx, tx, t); err != nil {
			return err
		}
		return fn(tx)
	})
}

// Raise raises the guard of t's resource to t, in a transaction of its own. It waits
// for the transactions that are in the scope, and they for it: on PostgreSQL through an
// advisory lock, since there a row that is locked for reading again and again would
// keep a writer waiting for ever. On PostgreSQL, MariaDB and MySQL it comes in before the
// writers that ask later; SQLite knows no order among those who wait, and beside writes
// without a gap it may fail by the busy timeout.
//
// Errors: a [*StaleError] if the guard knows a larger token, a [*ConflictError] if it
// knows the same number from another grant, [ErrInvalidToken] for the zero Token, which
// the database does not see, else the database's, after which the raise may be repeated.
func (g *GuardTable) Raise(ctx context.Context, db Beginner, t Token) error {
	if t.IsZero() {
		return g.RaiseIn(ctx, nil, t)
	}
	return inTx(ctx, db, nil, "a raise of "+t.Resource(), func(tx *sql.Tx) error { return g.RaiseIn(ctx, tx, t) })
}

// RaiseIn is Raise within a transaction that the caller commits: a grant's own, where
// the coordinator is the same database, so that no holder can forget it. Errors are
// those of [GuardTable.Raise]; after one tx has to be rolled back.
func (g *GuardTable) RaiseIn(ctx context.Context, tx *sql.Tx, t Token) error {
	return g.RaiseTx(ctx, sqlTx{tx}, t)
}

// RaiseTx is [GuardTable.RaiseIn] in a transaction of any driver.
func (g *GuardTable) RaiseTx(ctx context.Context, tx Tx, t Token) error {
	current, err := g.raise(ctx, tx, t)
	g.tell(ctx, "raise", t, current, err)
	return err
}

func (g *GuardTable) raise(ctx context.Context, tx Tx, t Token) (current int64, err error) {
	if t.IsZero() {
		return 0, fmt.Errorf("%w: no guard is raised to the zero token", ErrInvalidToken)
	}
	if err := g.wait(ctx, tx, t.Resource()); err != nil {
		return 0, err
	}
	if err := tx.Exec(ctx, g.sql.raise, t.Resource(), t.Value(), t.Grant()); err != nil {
		return 0, fmt.Errorf("fencedb: raising the guard of %s: %w", t.Resource(), err)
	}
	known, err := g.row(ctx, tx, g.sql.read, t.Resource())
	if err != nil {
		return 0, fmt.Errorf("fencedb: reading the guard of %s: %w", t.Resource(), err)
	}
	return known.token, g.compare(t, known)
}

// wait waits for the transactions in the scope of resource and keeps new ones out until tx
// ends, where something other than the raise itself does so.
func (g *GuardTable) wait(ctx context.Context, tx Tx, resource string) error {
	if g.sql.gate == "" {
		return nil
	}
	if err := tx.Exec(ctx, g.sql.gate, g.lockKey(resource)); err != nil {
		return fmt.Errorf("fencedb: waiting for the writers of %s: %w", resource, err)
	}
	return nil
}

// On returns the guards as a [Guard] that raises in db. It is a [TxGuard], too: a
// coordinator that was given the same db, the very value, raises it in the transaction of
// the grant.
func (g *GuardTable) On(db Beginner) Guard { return guardOn{g, db} }

type guardOn struct {
	guards *GuardTable
	db     Beginner
}

func (g guardOn) Raise(ctx context.Context, t Token) error { return g.guards.Raise(ctx, g.db, t) }

func (g guardOn) In(db Beginner) bool { return g.db == db }

func (g guardOn) WaitIn(ctx context.Context, tx *sql.Tx, resource string) error {
	if g.guards.sql.gate != "" {
		return g.guards.wait(ctx, sqlTx{tx}, resource)
	}
	if _, err := g.guards.row(ctx, sqlTx{tx}, g.guards.sql.read, resource); err != nil {
		return fmt.Errorf("fencedb: waiting for the writers of %s: %w", resource, err)
	}
	return nil
}

func (g guardOn) RaiseIn(ctx context.Context, tx *sql.Tx, t Token) error {
	return g.guards.RaiseIn(ctx, tx, t)
}

// guardRow is what a guard knows; the zero guardRow is of a guard never raised.
type guardRow struct {
	token int64
	grant string
}

// row reads the guard row by a statement that locks it.
func (g *GuardTable) row(ctx context.Context, tx Tx, query, resource string) (guardRow, error) {
	args := []any{resource}
	switch {
	case g.sql.inline:
		query, args = strings.Replace(query, "?", fmt.Sprintf("_utf8mb4 x'%x'", resource), 1), nil
	case query == g.sql.enter && g.sql.gate != "":
		args = append(args, g.lockKey(resource))
	}
	var r guardRow
	err := tx.QueryRow(ctx, query, args, &r.token, &r.grant)
	if errors.Is(err, sql.ErrNoRows) {
		return guardRow{}, nil
	}
	return r, err
}

// compare decides about t by what its guard knows.
func (g *GuardTable) compare(t Token, known guardRow) error {
	switch (protocol.Guard{Value: known.token, GrantID: known.grant}).Compare(t.Value(), t.Grant()) {
	case protocol.Stale:
		return &StaleError{Resource: t.Resource(), Table: g.name, Presented: t.Value(), Current: known.token}
	case protocol.NotGranted:
		return fmt.Errorf("%w: the guard of %s knows %d and not yet %d: raise it first", ErrNotGranted, t.Resource(), known.token, t.Value())
	case protocol.Conflict:
		return &ConflictError{Resource: t.Resource(), Table: g.name, Value: t.Value(), Presented: t.Grant(), Current: known.grant}
	}
	return nil
}

func (g *GuardTable) tell(ctx context.Context, operation string, t Token, current int64, err error) {
	g.observe.Decide(ctx, Decision{Operation: operation, Table: g.name, Resource: t.Resource(),
		Presented: t.Value(), Grant: t.Grant(), Current: current, Result: ResultOf(err)})
}

// lockKey is the advisory lock of a resource: the same for every process. Two resources
// with one key wait for each other and nothing worse.
func (g *GuardTable) lockKey(resource string) int64 {
	h := fnv.New64a()
	h.Write([]byte(g.name + "\x00" + resource))
	return int64(h.Sum64())
}

// inTx runs fn in a transaction and commits it if fn returns nil. A panic of fn rolls
// it back and goes on.
func inTx(ctx context.Context, db Beginner, opts *sql.TxOptions, what string, fn func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, opts)
	if err != nil {
		return fmt.Errorf("fencedb: beginning %s: %w", what, err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("fencedb: committing %s: %w", what, err)
	}
	return nil
}

// guardStatements are what one dialect needs. @guards stands for the table.
type guardStatements struct {
	schema string
	gate   string // waits for the writers in the scope, and keeps new ones out
	raise  string // resource, token, grant: raises what is lower, and locks the row
	read   string // resource: reads the row that raise has locked
	enter  string // resource (and the gate's key): locks the row for reading and reads it
	// inline writes the resource into read and enter, as bytes in hexadecimal, which no
	// mode of the server reads differently: with a parameter each would be sent twice, to
	// be prepared and to be run.
	inline bool
}

func (s guardStatements) in(table string) guardStatements {
	put := func(text string) string { return strings.ReplaceAll(text, "@guards", table) }
	return guardStatements{put(s.schema), put(s.gate), put(s.raise), put(s.read), put(s.enter), s.inline}
}

// guardSQL are the statements of each dialect.
var guardSQL = map[Dialect]guardStatements{
	Postgres: {
		schema: `CREATE TABLE IF NOT EXISTS @guards (
	resource text   NOT NULL PRIMARY KEY,
	token    bigint NOT NULL CHECK (token > 0),
	grant_id text   NOT NULL
)`,
		gate: `SELECT pg_advisory_xact_lock($1)`,
		raise: `INSERT INTO @guards AS g (resource, token, grant_id) VALUES ($1, $2, $3)
ON CONFLICT (resource) DO UPDATE SET token = excluded.token, grant_id = excluded.grant_id
WHERE g.token < excluded.token`,
		read: `SELECT token, grant_id FROM @guards WHERE resource = $1`,
		// Row locks for reading overtake a waiting writer, so who raises would starve:
		// writers come through a gate first, which whoever raises can close.
		enter: `WITH gate AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared($2))
SELECT g.token, g.grant_id FROM gate, @guards AS g WHERE g.resource = $1 FOR SHARE OF g`,
	},
	MariaDB: innodb,
	MySQL:   innodb,
	SQLite: {
		schema: `CREATE TABLE IF NOT EXISTS @guards (
	resource TEXT    NOT NULL PRIMARY KEY,
	token    INTEGER NOT NULL CHECK (typeof(token) = 'integer' AND token > 0),
	grant_id TEXT    NOT NULL
)`,
		raise: `INSERT INTO @guards AS g (resource, token, grant_id) VALUES ($1, $2, $3)
ON CONFLICT (resource) DO UPDATE SET token = excluded.token, grant_id = excluded.grant_id
WHERE g.token < excluded.token`,
		read: `SELECT token, grant_id FROM @guards WHERE resource = $1`,
		// There is one writer. To change nothing makes this transaction it, before it
		// has read anything that could change.
		enter: `UPDATE @guards SET token = token WHERE resource = $1 RETURNING token, grant_id`,
	},
}

// innodb: SET runs from left to right and sees what it has set, so the token comes
// last. Names and ids compare byte by byte, as in Go.
var innodb = guardStatements{
	schema: `CREATE TABLE IF NOT EXISTS @guards (
	resource varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
	token    bigint NOT NULL CHECK (token > 0),
	grant_id varchar(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL
) ENGINE = InnoDB`,
	raise: `INSERT INTO @guards (resource, token, grant_id) VALUES (?, ?, ?)
ON DUPLICATE KEY UPDATE grant_id = IF(token < VALUES(token), VALUES(grant_id), grant_id), token = GREATEST(token, VALUES(token))`,
	read:   `SELECT token, grant_id FROM @guards WHERE resource = ? FOR UPDATE`,
	enter:  `SELECT token, grant_id FROM @guards WHERE resource = ? LOCK IN SHARE MODE`,
	inline: true,
}
