package sqllease

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fencelint/fence/fencedb"
)

// A dialect is how one database says what the statements are made of. In all texts $1, $2
// and so on stand for arguments, and @leases and so on for the tables.
type dialect struct {
	now string // the time when the statement began, or later
	// micros turns a time into microseconds since 1970, so that no setting of a driver or
	// of a session changes what is read. instant turns them back.
	micros, instant func(expr string) string
	text            func(expr string) string         // a text as the bytes that it is
	later           func(expr, micros string) string // the time that many microseconds later
	greatest, least string
	lock            string // what a SELECT ends in to lock its rows
	conflict        string // what an INSERT ends in to leave a row alone that is there, and lock it where that is possible
	lockByInsert    bool   // an INSERT has to lock the row of a lease, before it is read
	durable         string // makes the transaction's commit wait for the disk
	limits          limits
	// resolution is the step of the clock. What is read may be older by as much, so a lease
	// lasts that much longer than its holder was told.
	resolution time.Duration
	inline     bool // arguments are written into the text
	// prepare: a statement that is not prepared is compiled each time, which takes as long as a
	// small one itself. Drivers must not check arguments themselves, see departure.
	prepare bool
}

var dialects = map[fencedb.Dialect]*dialect{
	fencedb.Postgres: {
		now:      `clock_timestamp()`, // now() is when the transaction began
		micros:   func(e string) string { return `(extract(epoch FROM ` + e + `) * 1000000)::bigint` },
		instant:  func(e string) string { return `(timestamptz 'epoch' + ` + e + `::bigint * interval '1 microsecond')` },
		text:     func(e string) string { return e },
		later:    func(e, us string) string { return `(` + e + ` + ` + us + `::bigint * interval '1 microsecond')` },
		greatest: "greatest", least: "least", lock: " FOR UPDATE",
		conflict: ` ON CONFLICT DO NOTHING`,
		durable:  `CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END`,
		limits:   limits{unit: time.Millisecond, set: `SELECT ` + lowered("lock_timeout") + `, ` + lowered("idle_in_transaction_session_timeout")},
	},
	fencedb.MariaDB: innodb,
	fencedb.MySQL:   innodb,
	fencedb.SQLite: {
		// Milliseconds since 1970, which is day 2440587.5, and half a one, for the cast cuts off.
		// unixepoch('subsec') is NULL before 3.42.
		now:      `(CAST(julianday('now') * 864e5 - 210866759999999.5 AS INTEGER) * 1000)`,
		micros:   func(e string) string { return e },
		instant:  func(e string) string { return e },
		text:     func(e string) string { return e },
		later:    func(e, us string) string { return `(` + e + ` + ` + us + `)` },
		greatest: "max", least: "min",
		conflict: ` ON CONFLICT DO NOTHING`, lockByInsert: true, // any write locks the database
		durable: `NULL`, resolution: time.Millisecond, prepare: true,
	},
}

// innodb: literals of times and numbers mean the same in every sql_mode, and UTC_TIMESTAMP
// in every time_zone. The clock has whole milliseconds, so that a renewal's answer, which is
// one number, holds the time together with the count.
var innodb = &dialect{
	now:      `UTC_TIMESTAMP(3)`,
	micros:   func(e string) string { return `TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', ` + e + `)` },
	instant:  func(e string) string { return `(TIMESTAMP'1970-01-01 00:00:00' + INTERVAL ` + e + ` MICROSECOND)` },
	text:     func(e string) string { return `CAST(` + e + ` AS BINARY)` }, // not in the session's character set
	later:    func(e, us string) string { return `(` + e + ` + INTERVAL ` + us + ` MICROSECOND)` },
	greatest: "GREATEST", least: "LEAST", lock: " FOR UPDATE",
	conflict: ` ON DUPLICATE KEY UPDATE namespace = namespace`, lockByInsert: true,
	durable: `NULL`, resolution: time.Millisecond,
	// With a parameter a statement would be sent twice, to be prepared and to be run.
	inline: true,
	// What is set is the session's, so it is put back; all values are read before the first is
	// set. What idles within a transaction has a limit of its own on MariaDB, which counts instead
	// of wait_timeout where it is not 0. MySQL reads no comment of MariaDB's. The type is said
	// since MySQL refuses one that is a DECIMAL to it.
	limits: limits{
		unit: time.Second,
		set: `SET @fence_lock = @@SESSION.innodb_lock_wait_timeout, @fence_wait = @@SESSION.wait_timeout,
SESSION innodb_lock_wait_timeout = ` + atMost("innodb_lock_wait_timeout") + `, SESSION wait_timeout = ` + atMost("wait_timeout") + `
/*M!100300 , @fence_idle = @@SESSION.idle_write_transaction_timeout, SESSION idle_write_transaction_timeout = CAST(LEAST(
COALESCE(NULLIF(@@SESSION.idle_write_transaction_timeout, 0), $1), COALESCE(NULLIF(@@SESSION.idle_transaction_timeout, 0), $1), $1) AS UNSIGNED) */`,
		reset: `SET SESSION innodb_lock_wait_timeout = @fence_lock, SESSION wait_timeout = @fence_wait
/*M!100300 , SESSION idle_write_transaction_timeout = @fence_idle */`,
	},
}

// limits have the server give up a transaction whose client does not go on, and what waits for a
// row, after a time that only it is sure to measure: a client that is stopped within a grant
// would otherwise keep the counter, and with it all grants of the namespace, for as long as its
// connection lives. A shorter limit that the session has stays.
type limits struct {
	unit  time.Duration // that the server counts in
	set   string        // units: the first statement of a transaction; empty if the server has no limits
	reset string        // undoes set after the transaction; empty if it was the transaction's own
}

// atMost is a setting of MariaDB and MySQL, or $1 seconds if that is less.
func atMost(setting string) string { return `CAST(LEAST(@@SESSION.` + setting + `, $1) AS UNSIGNED)` }

// lowered lowers a setting of PostgreSQL to $1 milliseconds until the transaction ends. Zero is no
// limit.
func lowered(setting string) string {
	return `set_config('` + setting + `', (extract(epoch FROM least(nullif(current_setting('` + setting + `')::interval, interval '0'), ` +
		`$1::bigint * interval '1 millisecond')) * 1000)::bigint::text, true)`
}

// tables are those of the schema. A word of a statement that is one of them is the table.
var tables = []string{"fence_schema", "fence_namespaces", "fence_leases", "fence_audit", "fence_rejections"}

// names returns what puts the quoted tables of a schema, or of the connection's if it is
// empty, into a text that has @leases and so on.
func names(d fencedb.Dialect, schema string) (*strings.Replacer, error) {
	prefix := ""
	if schema != "" {
		q, err := d.Quote(schema)
		if err != nil {
			return nil, err
		}
		prefix = q + "."
	}
	var pairs []string
	for _, t := range tables {
		q, err := d.Quote(t)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, strings.Replace(t, "fence_", "@", 1), prefix+q)
	}
	return strings.NewReplacer(pairs...), nil
}

// arguments returns what is sent for a text and its arguments, each of which is an int64, a
// string or nil.
func (d *dialect) arguments(text string, args []any) (string, []any, error) {
	if !d.inline {
		return text, args, nil
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			return b.String(), nil, nil
		}
		digits := 0
		for digits < len(after) && after[digits] >= '0' && after[digits] <= '9' {
			digits++
		}
		n, err := strconv.Atoi(after[:digits])
		if err != nil || n < 1 || n > len(args) {
			return "", nil, fmt.Errorf("sqllease: a statement has no argument %q", "$"+after[:digits])
		}
		if err := literal(&b, args[n-1]); err != nil {
			return "", nil, err
		}
		text = after[digits:]
	}
}

// literal writes an argument so that no mode of the server reads it differently.
func literal(b *strings.Builder, arg any) error {
	switch v := arg.(type) {
	case nil:
		b.WriteString("NULL")
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case string:
		fmt.Fprintf(b, "_utf8mb4 x'%x'", v)
	default:
		return fmt.Errorf("sqllease: an argument is a %T", arg)
	}
	return nil
}
