package verify

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/fencelint/fence/gen/plan"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// A name is a table's; the connection decides where it is if schema is empty.
type name struct{ schema, table string }

func (n name) String() string {
	if n.schema == "" {
		return n.table
	}
	return n.schema + "." + n.table
}

// A want is a table to describe.
type want struct {
	name
	tokens string // the column with tokens, if their numbers matter
}

// A database is what is known about a live database.
type database struct {
	settings
	bigint string // what it calls a number of 64 bits
	hidden string // why a trigger may be there and not be seen; may be empty
	tables map[name]*table
}

// settings are what is the same for all tables.
type settings struct {
	where       string // tables without a schema are looked for here
	foldTables  bool   // the names of tables are equal in any case
	foldColumns bool   // those of columns
	lax         string // why values that do not fit are stored as others; may be empty
}

type table struct {
	name
	view     bool
	engine   string // one on which fencing is not known to hold; else empty
	unlogged bool
	columns  []column
	keys     []key
	triggers []trigger
	above    above
}

type column struct {
	name, typ string
	bits64    bool
	notNull   bool
	filled    bool   // the database has a value where an insert gives none
	made      bool   // the database refuses a value
	blind     string // a collation in which different texts are equal; else empty
}

// A key is a primary key or a unique index.
type key struct {
	name    string
	primary bool
	columns []string
	plain   bool // of whole columns and all rows, compared at once
}

type trigger struct {
	name                   string
	before                 bool // and for each row
	insert, update, delete bool
	some                   bool   // only for updates that set certain columns
	off                    string // why it does not run; else empty
	body                   string
}

// above are the tokens above the counter.
type above struct {
	rows    int64
	largest string
}

// A catalogue is where a dialect keeps what a database says about itself. Each query but
// settings takes a schema and a table, and answers with what read scans.
type catalogue struct {
	bigint, hidden                            string
	settings, tables, columns, keys, triggers string
	// parse fills in a trigger of which only the text is known; nil: there is none such.
	parse func(*trigger)
}

// A reader describes tables in one transaction.
type reader struct {
	ctx     context.Context
	tx      *sql.Tx
	dialect sqlstmt.Dialect
	c       catalogue
	counter *int64
}

// describe reads what the catalogue says about the tables. One that is not there is not
// in the answer.
func describe(ctx context.Context, tx *sql.Tx, d sqlstmt.Dialect, wanted []want, counter *int64) (*database, error) {
	c := catalogues[d]
	r := reader{ctx, tx, d, c, counter}
	db := &database{bigint: c.bigint, hidden: c.hidden, tables: map[name]*table{}}
	s := &db.settings
	if err := tx.QueryRowContext(ctx, c.settings).Scan(&s.where, &s.foldTables, &s.foldColumns, &s.lax); err != nil {
		return nil, fmt.Errorf("reading the settings of the database: %w", err)
	}
	for _, w := range wanted {
		t, err := r.table(w, *s)
		if err != nil {
			return nil, fmt.Errorf("reading what the database says about %s: %w", w.name, err)
		}
		if t != nil {
			db.tables[w.name] = t
		}
	}
	return db, nil
}

// table describes one table; nil if there is none.
func (r reader) table(w want, s settings) (*table, error) {
	t, err := r.find(w, s)
	if t == nil || err != nil || t.view {
		return t, err
	}
	for _, read := range []func(*table) error{r.columns, r.keys, r.triggers} {
		if err := read(t); err != nil {
			return nil, err
		}
	}
	return t, r.tokens(t, w.tokens, s)
}

func (r reader) find(w want, s settings) (*table, error) {
	var found *table
	err := r.each(r.c.tables, w.name, func(scan scanner) error {
		t := &table{}
		if err := scan(&t.schema, &t.table, &t.view, &t.engine, &t.unlogged); err != nil {
			return err
		}
		// The catalogue of MariaDB compares in any case, also where tables do not.
		if t.table == w.table || s.foldTables {
			found = t
		}
		return nil
	})
	return found, err
}

func (r reader) columns(t *table) error {
	return r.each(r.c.columns, t.name, func(scan scanner) error {
		var c column
		err := scan(&c.name, &c.typ, &c.bits64, &c.notNull, &c.filled, &c.made, &c.blind)
		t.columns = append(t.columns, c)
		return err
	})
}

// keys reads keys, of which each row is one column.
func (r reader) keys(t *table) error {
	return r.each(r.c.keys, t.name, func(scan scanner) error {
		var k key
		var column string
		if err := scan(&k.name, &k.primary, &column, &k.plain); err != nil {
			return err
		}
		n := len(t.keys)
		if n == 0 || t.keys[n-1].name != k.name || t.keys[n-1].primary != k.primary {
			t.keys, n = append(t.keys, k), n+1
		}
		last := &t.keys[n-1]
		last.columns = append(last.columns, column)
		last.plain = last.plain && k.plain
		return nil
	})
}

func (r reader) triggers(t *table) error {
	return r.each(r.c.triggers, t.name, func(scan scanner) error {
		var g trigger
		if err := scan(&g.name, &g.before, &g.insert, &g.update, &g.delete, &g.some, &g.off, &g.body); err != nil {
			return err
		}
		if r.c.parse != nil {
			r.c.parse(&g)
		}
		t.triggers = append(t.triggers, g)
		return nil
	})
}

// tokens looks for tokens above the counter, if there is a column that can hold any.
func (r reader) tokens(t *table, column string, s settings) error {
	c := t.column(column, s.foldColumns)
	if r.counter == nil || column == "" || c == nil || !c.bits64 {
		return nil
	}
	var largest sql.NullString
	query := fmt.Sprintf("SELECT count(*), max(%[3]s) FROM %[1]s.%[2]s WHERE %[3]s > %[4]d",
		plan.Quote(r.dialect, t.schema), plan.Quote(r.dialect, t.table), plan.Quote(r.dialect, c.name), *r.counter)
	err := r.tx.QueryRowContext(r.ctx, query).Scan(&t.above.rows, &largest)
	t.above.largest = largest.String
	return err
}

type scanner func(dest ...any) error

// each runs a query of the catalogue about one table.
func (r reader) each(query string, n name, row func(scanner) error) error {
	rows, err := r.tx.QueryContext(r.ctx, query, n.schema, n.table)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// column is the column of that name; nil if there is none.
func (t *table) column(name string, fold bool) *column {
	for i := range t.columns {
		if c := &t.columns[i]; c.name == name || fold && strings.EqualFold(c.name, name) {
			return c
		}
	}
	return nil
}
