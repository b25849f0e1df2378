package fencedb

import (
	"fmt"
	"strings"
)

// A Dialect is a database's SQL.
type Dialect string

// The dialects. MySQL is unverified: what is said of it rests on its manual, and its
// tests run only where a server is given.
const (
	Postgres Dialect = "postgres"
	MariaDB  Dialect = "mariadb"
	MySQL    Dialect = "mysql"
	SQLite   Dialect = "sqlite"
)

// Valid tells whether d is one of the dialects.
func (d Dialect) Valid() bool { _, ok := guardSQL[d]; return ok }

// maxIdentifier is the length of the longest name, in bytes, that every dialect keeps
// whole: PostgreSQL cuts longer ones off silently.
const maxIdentifier = 63

// Quote returns name as an identifier of the dialect, whatever characters it has. A
// name that is empty, longer than 63 bytes or holds a NUL is an error.
func (d Dialect) Quote(name string) (string, error) {
	switch {
	case !d.Valid():
		return "", fmt.Errorf("fencedb: no dialect is called %q", string(d))
	case name == "":
		return "", fmt.Errorf("fencedb: an identifier is empty")
	case len(name) > maxIdentifier:
		return "", fmt.Errorf("fencedb: the identifier %q has %d bytes, more than %d", name, len(name), maxIdentifier)
	case strings.ContainsRune(name, 0):
		return "", fmt.Errorf("fencedb: the identifier %q holds a NUL", name)
	}
	q := `"`
	if d == MariaDB || d == MySQL {
		q = "`"
	}
	return q + strings.ReplaceAll(name, q, q+q) + q, nil
}
