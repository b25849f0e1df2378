package plan

import (
	"strings"

	"github.com/fencelint/fence/internal/sqlstmt"
)

// A dialect is what statements differ in.
type dialect struct {
	quote  string // around identifiers; doubled within
	number string // before the number of a placeholder; empty: placeholders are ? and have none
	// forUpdate locks the rows that a SELECT reads.
	forUpdate string
	// returning: INSERT answers with columns.
	returning bool
	// orAbort follows INSERT and UPDATE, so that no clause of the schema decides what
	// becomes of a conflict.
	orAbort string
	// exact compares two texts byte by byte, whatever collation a column has.
	exact func(left, right string) string
	// digits follows an integer column, for a text of its digits alone: one declared
	// zerofill has zeros before them, a sum has none.
	digits string
	// lastID: UPDATE sets the driver's last insert id by LAST_INSERT_ID(expr), and the
	// number of affected rows leaves out those that stay as they are.
	lastID bool
	// settings: a trigger can read a setting of the transaction (TokenSetting).
	settings bool
	// noColumns is an INSERT that gives no column, after the table.
	noColumns string
	// concat joins texts, one of which may be a column of another type.
	concat func(parts []string) string
	// literal is a text as a constant.
	literal func(text string) string
}

var dialects = map[sqlstmt.Dialect]dialect{
	sqlstmt.Postgres: {
		quote: `"`, number: "$", forUpdate: " FOR UPDATE", returning: true, settings: true, noColumns: " DEFAULT VALUES",
		// format gives a text whatever the column's type is, || would not.
		concat:  func(parts []string) string { return "concat(" + strings.Join(parts, ", ") + ")" },
		exact:   func(left, right string) string { return left + ` COLLATE "C" = ` + right },
		literal: standardLiteral,
	},
	sqlstmt.SQLite: {
		quote: `"`, returning: true, noColumns: " DEFAULT VALUES",
		orAbort: " OR ABORT",
		concat:  func(parts []string) string { return "(" + strings.Join(parts, " || ") + ")" },
		exact:   func(left, right string) string { return left + " COLLATE BINARY = " + right },
		literal: standardLiteral,
	},
	sqlstmt.MariaDB: {
		quote: "`", forUpdate: " FOR UPDATE", returning: true, lastID: true, digits: " + 0", noColumns: " () VALUES ()",
		concat: mysqlConcat, exact: mysqlExact, literal: mysqlLiteral,
	},
	sqlstmt.MySQL: {
		quote: "`", forUpdate: " FOR UPDATE", lastID: true, digits: " + 0", noColumns: " () VALUES ()",
		concat: mysqlConcat, exact: mysqlExact, literal: mysqlLiteral,
	},
}

func mysqlConcat(parts []string) string { return "CONCAT(" + strings.Join(parts, ", ") + ")" }

// mysqlExact: what is bound arrives in the character set of the connection, utf8mb4.
func mysqlExact(left, right string) string {
	return "CAST(CONVERT(" + left + " USING utf8mb4) AS BINARY) = CAST(" + right + " AS BINARY)"
}

func standardLiteral(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// mysqlLiteral holds with and without the mode NO_BACKSLASH_ESCAPES, in which a backslash
// stands for itself: bytes in hexadecimal are the same in both.
func mysqlLiteral(text string) string {
	if strings.Contains(text, `\`) {
		const digits = "0123456789abcdef"
		b := []byte("_utf8mb4 x'")
		for i := range len(text) {
			b = append(b, digits[text[i]>>4], digits[text[i]&15])
		}
		return string(append(b, '\''))
	}
	return standardLiteral(text)
}

// column is a name as an identifier, whatever it contains. It is the one place that quotes.
func (d dialect) column(name string) string {
	return d.quote + strings.ReplaceAll(name, d.quote, d.quote+d.quote) + d.quote
}
