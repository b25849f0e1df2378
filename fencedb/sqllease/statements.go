package sqllease

import (
	"strconv"
	"strings"

	"github.com/fencelint/fence/fencedb"
)

// statements are what a coordinator sends.
type statements struct {
	now     string // the time
	state   string // resource, namespace: time, quarantine and lease, always one row
	ensure  string // resource, namespace: makes the row of a lease unless it is there
	lock    string // resource: locks the row and reads the time after that, and the lease
	begin   string // namespace: makes the row of a counter unless it is there
	counter string // namespace: locks the counter and reads it, and the place
	largest string // namespace: the largest token of its leases
	count   string // counterArgs: writes the counter; empty if write does it
	write   string // leaseArgs, counterArgs: writes the lease
	names   bool   // write returns the transaction's name
	renew   string // resource, namespace, token, grant, TTL to wait for, TTL told, usable
	release string // resource, namespace, token, grant
	list    string // namespace
	advance string // counterArgs, quarantine
	endAll  string // namespace, largest token: ends the grants up to it
	clean   string // namespace, microseconds (negative): deletes leases that were free that long ago
	forget  string // microseconds (negative): deletes rejections of that long ago
	audit   string // namespace, action, resource, actor, reason, token before and after, detail
	reject  string // rejectionArgs
	version string // the schema's
}

// A kind is what a column of a lease holds.
type kind int

const (
	number kind = iota
	text
	instant
)

// leaseColumns are what writes a lease, in the order of its arguments; the first is $2.
var leaseColumns = []struct {
	name string
	kind kind
}{
	{"token", number}, {"grant_id", text}, {"owner", text}, {"ended", text}, {"granted", instant}, {"renewed", instant},
	{"expires", instant}, {"free_at", instant}, {"lock_delay_us", number}, {"ttl_us", number}, {"usable_ns", number}, {"renewals", number},
	{"prev_token", number}, {"prev_grant_id", text}, {"prev_owner", text}, {"prev_end", text}, {"prev_renewed", instant}, {"prev_ended", instant},
}

// read lists the columns of the lease l as they are read: its namespace and leaseColumns.
func (d *dialect) read() string {
	cols := []string{d.text("l.namespace")}
	for _, c := range leaseColumns {
		col := "l." + c.name
		switch c.kind {
		case text:
			col = d.text(col)
		case instant:
			col = d.micros(col)
		}
		cols = append(cols, col)
	}
	return strings.Join(cols, ", ")
}

// sets writes the assignments of a lease's columns.
func (d *dialect) sets(prefix string) string {
	var sets []string
	for i, c := range leaseColumns {
		value := parameter(i + 2)
		if c.kind == instant {
			value = d.instant(value)
		}
		sets = append(sets, prefix+c.name+" = "+value)
	}
	return strings.Join(sets, ", ")
}

// counterSets writes the assignments of a counter's columns, whose arguments come after the
// namespace, the one of number first.
func counterSets(prefix string, first int) string {
	return prefix + "incarnation = " + parameter(first+1) + ", " + prefix + "counter = " + parameter(first+2) + ", " + prefix + "place = " + parameter(first+3)
}

// counterFirst is the number of the namespace where the lease's arguments come before it.
var counterFirst = 2 + len(leaseColumns)

// parameter returns the argument of a number, from 1.
func parameter(n int) string { return "$" + strconv.Itoa(n) }

// mine is the condition that a lease is still the grant of a token.
const mine = `x.resource = $1 AND x.namespace = $2 AND x.token = $3 AND x.grant_id = $4 AND x.ended IS NULL`

// renewTimes are the assignments of the times of a renewal at now. They never shorten a
// lease: the answer to an earlier renewal may still be counted on. They mean the same one
// after the other and all at once.
func renewTimes(d *dialect, now string) string {
	expires := d.greatest + `(x.expires, ` + d.later(now, "$5") + `)`
	return `free_at = ` + d.later(expires, "x.lock_delay_us") + `, expires = ` + expires + `, renewed = ` + now
}

// statementsOf writes the statements of a dialect. Place is where it says that it lives.
func statementsOf(name fencedb.Dialect, tables *strings.Replacer, place string) statements {
	d := dialects[name]
	now := d.micros(d.now)
	s := statements{
		now: `SELECT ` + now,
		state: `SELECT ` + now + `, ` + d.micros("n.quarantine_until") + `, ` + d.read() + ` FROM (SELECT 1 AS one) AS o
LEFT JOIN @namespaces AS n ON n.namespace = $2 LEFT JOIN @leases AS l ON l.resource = $1`,
		ensure: `INSERT INTO @leases (resource, namespace) VALUES ($1, $2)` + d.conflict,
		// The row was locked by the INSERT before this, which is another statement, since
		// the time of a statement may be when it began to wait.
		lock:  `SELECT ` + now + `, ` + d.read() + ` FROM @leases AS l WHERE l.resource = $1`,
		begin: `INSERT INTO @namespaces (namespace) VALUES ($1)` + d.conflict,
		counter: `SELECT incarnation, counter, place, ` + d.micros("quarantine_until") + `, ` + place + `, ` + d.durable + `
FROM @namespaces WHERE namespace = $1` + d.lock,
		largest: `SELECT COALESCE(MAX(token), 0) FROM @leases WHERE namespace = $1`,
		count:   `UPDATE @namespaces SET ` + counterSets("", 1) + ` WHERE namespace = $1`,
		write:   `UPDATE @leases SET ` + d.sets("") + ` WHERE resource = $1`,
		renew: `UPDATE @leases AS x SET ` + renewTimes(d, d.now) + `, ttl_us = $6, usable_ns = $7, renewals = renewals + 1
WHERE ` + mine + ` AND ` + d.now + ` < x.expires RETURNING ` + d.micros("renewed") + `, renewals`,
		release: `UPDATE @leases AS x SET ended = 'released', free_at = ` + d.now + `, expires = ` + d.least + `(x.expires, ` + d.now + `) WHERE ` + mine,
		list: `SELECT ` + now + `, ` + d.micros("n.quarantine_until") + `, ` + d.read() + `, ` + d.text("l.resource") + `, COALESCE(r.n, 0), ` + d.micros("r.latest") + `
FROM @leases AS l LEFT JOIN @namespaces AS n ON n.namespace = l.namespace
LEFT JOIN (SELECT resource, COUNT(*) AS n, MAX(at) AS latest FROM @rejections GROUP BY resource) AS r ON r.resource = l.resource
WHERE l.namespace = $1`,
		advance: `UPDATE @namespaces SET ` + counterSets("", 1) + `, quarantine_until = ` + d.instant("$5") + ` WHERE namespace = $1`,
		endAll:  `UPDATE @leases SET ended = 'broken', expires = ` + d.least + `(expires, ` + d.now + `) WHERE namespace = $1 AND token <= $2 AND ended IS NULL`,
		clean:   `DELETE FROM @leases WHERE namespace = $1 AND free_at <= ` + d.later(d.now, "$2"),
		forget:  `DELETE FROM @rejections WHERE at <= ` + d.later(d.now, "$1"),
		audit: `INSERT INTO @audit (at, namespace, action, resource, actor, reason, token_before, token_after, detail)
VALUES (` + d.now + `, $1, $2, $3, $4, $5, $6, $7, $8)`,
		reject: `INSERT INTO @rejections (at, version, resource, operation, table_name, row_key, presented_token, presented_grant, current_token, result, build)
VALUES (` + d.now + `, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		version: versionText,
	}
	switch name {
	case fencedb.Postgres:
		s.postgres(d)
	case fencedb.MariaDB, fencedb.MySQL:
		s.innodb(d)
	}
	return s.in(tables, name == fencedb.SQLite)
}

const versionText = `SELECT COALESCE(MAX(version), 0) FROM @schema`

// postgres changes what is otherwise on PostgreSQL.
func (s *statements) postgres(d *dialect) {
	// The time is read above the lock: in the list of the SELECT that locks it would be read
	// before the wait.
	s.lock = `WITH l AS MATERIALIZED (SELECT * FROM @leases WHERE resource = $1 FOR UPDATE)
SELECT ` + d.micros(d.now) + `, ` + d.read() + ` FROM l`
	s.count, s.names = "", true
	s.write = `WITH n AS (UPDATE @namespaces SET ` + counterSets("", counterFirst) + ` WHERE namespace = ` + parameter(counterFirst) + `)
UPDATE @leases SET ` + d.sets("") + ` WHERE resource = $1 RETURNING pg_current_xact_id()::text`
	// A plain UPDATE looks at its WHERE again after it waited for a row only if the row has
	// changed: after a lock that changed nothing, its time is from before the wait. So the
	// row is locked first. What the UPDATE then finds is the row as it was when the statement
	// began or, where that has changed, the changed row, by the second look.
	s.renew = `WITH l AS MATERIALIZED (SELECT resource, ` + d.durable + ` FROM @leases WHERE resource = $1 FOR NO KEY UPDATE),
t AS MATERIALIZED (SELECT resource, ` + d.now + ` AS now FROM l)
UPDATE @leases AS x SET ` + renewTimes(d, "t.now") + `, ttl_us = $6, usable_ns = $7, renewals = x.renewals + 1 FROM t
WHERE ` + mine + ` AND x.resource = t.resource AND t.now < x.expires
RETURNING ` + d.micros("x.renewed") + `, x.renewals`
	// clock_timestamp() is another one each time.
	s.release = `WITH t AS MATERIALIZED (SELECT ` + d.now + ` AS now)
UPDATE @leases AS x SET ended = 'released', free_at = t.now, expires = least(x.expires, t.now) FROM t WHERE ` + mine
}

// innodb changes what is otherwise on MariaDB and MySQL.
func (s *statements) innodb(d *dialect) {
	s.count = "" // one statement for both rows
	s.write = `UPDATE @namespaces AS n, @leases AS l SET ` + d.sets("l.") + `, ` + counterSets("n.", counterFirst) + `
WHERE n.namespace = ` + parameter(counterFirst) + ` AND l.resource = $1`
	// There is no UPDATE ... RETURNING: the answer carries one number, into which time and
	// count are packed. The time is when the statement began. If it then waits for the row,
	// the lease ends the earlier, and nobody can have been granted it meanwhile: the token
	// would differ.
	s.renew = `UPDATE @leases AS x SET ttl_us = IF(LAST_INSERT_ID(` + packRenewal + `) > 0, $6, $6), usable_ns = $7, ` +
		renewTimes(d, d.now) + `, renewals = renewals + 1 WHERE ` + mine + ` AND ` + d.now + ` < x.expires`
}

// A renewal on MariaDB is packed into one number: milliseconds since 2020 above the count.
const (
	countBits   = 23
	maxCount    = 1<<countBits - 1
	since2020   = 1577836800000 // milliseconds since 1970
	packRenewal = `TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'2020-01-01 00:00:00', UTC_TIMESTAMP(3)) DIV 1000 * 8388608 + LEAST(renewals + 1, 8388607)`
)

// in puts the tables' names in.
func (s statements) in(tables *strings.Replacer, sqlite bool) statements {
	for _, statement := range []*string{
		&s.now, &s.state, &s.ensure, &s.lock, &s.begin, &s.counter, &s.largest, &s.count, &s.write, &s.renew, &s.release,
		&s.list, &s.advance, &s.endAll, &s.clean, &s.forget, &s.audit, &s.reject, &s.version,
	} {
		if sqlite {
			*statement = strings.ReplaceAll(*statement, "$", "?") // whose number counts, in every driver
		}
		*statement = tables.Replace(*statement)
	}
	return s
}
